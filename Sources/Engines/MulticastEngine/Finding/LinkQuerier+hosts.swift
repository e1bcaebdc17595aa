import DNSMessage
package import DNSSD
import Records

// Lists of which a host has more than an answer to a port holds: the port is asked for types, which shows who has the list's type, and each of
// those by itself (`HostQuestions`).
extension LinkQuerier {
    /// How many services avahi-daemon can list in an answer of 512 bytes; it logs each record that it leaves out.
    private static let mostListed = 5
    /// The same for types, which come without other records.
    private static let mostTypes = 12
    /// How many hosts are asked at a time for all lists: each takes a socket.
    private static let mostOpen = 128
    /// How long after the port's first question hosts are asked: its second has left by then.
    private static let delay = Duration.milliseconds(40)
    static let types = DomainName.serviceTypes.map { RecordKey($0, .ptr) }

    /// What to ask a port for a list; nil for nothing.
    static func listQuestion(_ key: RecordKey, _ answers: ListAnswers?, _ cache: RecordCache) -> RecordKey? {
        if answers?.isCut != true, answers?.hosts.isAsking != true, fitsOneAnswer(key, cache) { return key }
        return answers?.hosts.mayAsk == true && answers?.isLate != true ? types : nil
    }

    /// Whether no host lists more than one answer to a port holds.
    private static func fitsOneAnswer(_ key: RecordKey, _ cache: RecordCache) -> Bool {
        var counts: [PacketSource: Int] = [:]
        let most = key == types ? mostTypes : mostListed
        // Who answered a port is not known, and has not listed too many.
        return !cache.store.contains(key) { life in
            guard life.source != .asked else { return false }
            counts[life.source, default: 0] += 1
            return counts[life.source, default: 0] > most
        }
    }

    /// What is not yet known of a list that is asked for at this time. Types and subtypes are in no list of types: no host is asked for them.
    static func answers(to key: RecordKey, from first: Duration) -> ListAnswers {
        var answers = ListAnswers(from: first)
        if key == types || key.name.listedType != nil { answers.hosts.stop() }
        return answers
    }

    /// Notes what was asked from a port for a list, and whether more is to come.
    mutating func askedOnce(
        forList key: RecordKey, _ asked: [(key: RecordKey, way: ListAnswers.Way)], waits: Bool, at now: Duration
    ) {
        if !asked.isEmpty { lists[key]?.askedPort() }
        if let last = asked.last, last.key != key {
            lists[key]?.hosts.begin(at: last.way == .first ? now + Self.delay : now)
        } else if !waits, lists[key]?.hosts.isAsking == false {
            lists[key]?.hosts.stop()
        }
    }

    /// A host has named its types to the port that asks for a list. One that has the list's is asked for it. Where one may have left it out,
    /// the list is in doubt.
    mutating func namesTypes(
        _ records: [ResourceRecord], for list: RecordKey, by source: PacketSource?, _ sender: IPv4Address?,
        _ way: ListAnswers.Way, size: Int, after delay: Duration, at now: Duration
    ) {
        guard records.contains(where: { $0.data == .ptr(list.name) }) else {
            if size > ListAnswers.whole { lists[list]?.isInDoubt() }
            return
        }
        lists[list]?.answered(by: source, way, after: delay, at: now)
        answeredPort(for: list, by: source, sender, way)
    }

    /// A host has answered a port that asks for a list.
    mutating func answeredPort(
        for list: RecordKey, by source: PacketSource?, _ sender: IPv4Address?, _ way: ListAnswers.Way
    ) {
        guard source != nil, let sender, mayAsk(sender) else { return }
        lists[list]?.hosts.answeredPort(sender, way)
    }

    /// Only hosts of this link are asked.
    private func mayAsk(_ host: IPv4Address) -> Bool { cache.isOfNeighbour(.v4(host)) }

    /// When to call `hostPackets`; nil for never.
    var hostDeadline: Duration? { lists.values.compactMap(\.hosts.deadline).min() }

    /// Returns the questions to send now, each to port 5353 of one host.
    package mutating func hostPackets(at now: Duration) -> [(host: IPv4Address, packet: [UInt8])] {
        guard let deadline = hostDeadline, deadline <= now else { return [] }
        var packets: [(host: IPv4Address, packet: [UInt8])] = []
        let due = lists.filter { $0.value.hosts.deadline.map { $0 <= now } ?? false }.map(\.key)
        for key in due { lists[key]?.judgeHosts(at: now) }
        for key in due {
            let room = Self.mostOpen - lists.values.reduce(0) { $0 + $1.hosts.awaited.count }
            for (host, names) in lists[key]?.hosts.next(atMost: max(0, room), at: now) ?? [] {
                var writer = MessageWriter(limit: QuestionPackets.length, compression: .multicast)
                guard mayAsk(host), writer.add(Question(key.name, key.type, wantsUnicastResponse: true)),
                    hostRate.take(at: now)
                else {
                    lists[key]?.hosts.failed(host)
                    continue
                }
                // One is left out, so that there is an answer; the host says it, and what else it has.
                var awaited: Set<DomainName> = []
                for name in names {
                    let known = cache.slot(of: key, .ptr(name)).flatMap { cache.store[$0]?.record(at: now) }
                    guard !awaited.isEmpty, let known, known.isReadByAll, writer.add(known, to: .answer) else {
                        awaited.insert(name)
                        continue
                    }
                }
                lists[key]?.hosts.asked(host, awaiting: awaited, at: now)
                packets.append((host, writer.bytes))
            }
        }
        return packets
    }

    /// A host cannot be asked by itself.
    mutating func cannotAsk(_ host: IPv4Address) { for key in Array(lists.keys) { lists[key]?.hosts.failed(host) } }

    /// The hosts that are asked by themselves, and whose answers are waited for.
    var awaitedHosts: Set<IPv4Address> { lists.values.reduce(into: []) { $0.formUnion($1.hosts.awaited) } }

    /// Whether a service of a list, or all that is known of it for nil, was heard over IPv4, and is wanted over it.
    func isOverIPv4(_ service: DomainName?, of key: RecordKey, over family: IPAddress.Family?) -> Bool {
        guard family != .ipv6 else { return false }
        if let service {
            return cache.store.slot(of: key, .ptr(service)).flatMap { cache.store[$0]?.life.hearing.includes(.ipv4) }
                ?? false
        }
        return !cache.store.contains(key) { !$0.isEnding && !$0.hearing.includes(.ipv4) }
    }
}

extension [ResourceRecord] {
    /// The names that PTR records of a key lead to.
    func targets(of key: RecordKey) -> some Sequence<DomainName> {
        lazy.compactMap { record in
            guard record.ttl > 0, record.name == key.name, case .ptr(let name) = record.data else { return nil }
            return name
        }
    }
}
