package import DNSMessage
package import DNSSD
import Discovery

/// Finds names that two hosts of the links claim, each with records of its own. A value: it is given responses, and says what to ask next.
///
/// Hosts that behave rename themselves (RFC 6762 §9); whoever does not, or takes a name on purpose, answers beside the owner.
package struct NameSurvey: Inquirer {
    /// A name that two hosts or more claim.
    package struct Dispute: Sendable {
        /// What has the name.
        package enum Owner: Hashable, Sendable {
            case service, host
            /// Each says no more than its own addresses, and both have the same services: one host with two interfaces on the link looks like
            /// that, and so do two hosts that share a name.
            case hostOrTwo
        }

        package let name: DomainName
        package let owner: Owner
        package let interface: NetworkInterface
        /// What each host says, one way or another.
        package let sides: [(host: IPAddress, records: Set<RecordData>)]

        package var isService: Bool { owner == .service }
        package var mayBeOne: Bool { owner == .hostOrTwo }

        /// The hosts' addresses, with what each says of the name. Safe for a terminal.
        package var texts: [String] {
            sides.map { side in
                let records = side.records.map(text).sorted()
                return "\(side.host) on \(interface.name) says \(records.joined(separator: ", "))"
            }
        }

        private func text(_ data: RecordData) -> String {
            if case .srv(_, _, let port, let host) = data { return "\(host.presentation) port \(port)" }
            return IPAddress(data, scope: interface.index).map(\.description) ?? "?"
        }
    }

    /// The most questions, and the most names that are kept.
    private static let limit = 512
    /// The most hosts of a name, and the most records of a host for it.
    private static let mostSides = 8

    private struct Key: Hashable {
        let name: DomainName
        let type: RecordType
        let interface: NetworkInterface
        let family: IPAddress.Family

        /// Smaller is easier to read.
        var rank: (Int, UInt16, UInt32) { (family == .ipv4 ? 0 : 1, type.rawValue, interface.index) }
    }

    /// How long it takes: who wants to answer has answered, and whoever announces has announced.
    package static let time = Duration.milliseconds(2500)
    /// The first questions are asked again, for a packet may be lost.
    private static let half = time / 2

    /// Empty once they are asked again.
    private var first: [Question] = []
    private var waiting: [Question] = []
    private var asked: Set<Question> = []
    private var claims: [Key: [IPAddress: Set<RecordData>]] = [:]

    private let own: Set<IPAddress>

    /// - Parameter own: this machine's addresses, without scopes: what it says over several interfaces of a link, one host says.
    package init(own: Set<IPAddress> = []) {
        self.own = own
        // For the types of services.
        first = DomainName.serviceTypes.map { ask($0, .ptr) } ?? []
        waiting = first
    }

    package mutating func questions(at now: Duration) -> [OutgoingQuestion] {
        if now >= Self.half {
            waiting += first
            first = []
        }
        defer { waiting = [] }
        return stride(from: 0, to: waiting.count, by: 8).compactMap { start in
            OutgoingQuestion(Array(waiting[start..<min(start + 8, waiting.count)]), id: 0, .group)
        }
    }

    package func deadline(after now: Duration) -> Duration? { now < Self.half ? Self.half : Self.time }

    package func isOver(at now: Duration) -> Bool { now >= Self.time }

    package mutating func received(_ message: Message, _ arrival: Arrival, at now: Duration) {
        guard message.flags.contains(.response) else { return }
        for record in message.answers + message.additionals where record.recordClass == .internet {
            switch record.data {
            case .ptr(let target) where record.name == DomainName.serviceTypes: waiting += ask(target, .ptr)
            case .ptr(let target) where asked.contains(Question(record.name, .ptr)): waiting += ask(target, .srv)
            case .srv(_, _, _, let host):
                note(record, arrival)
                waiting += ask(host, .a) + ask(host, .aaaa)
            case .a, .aaaa: note(record, arrival)
            default: break
            }
        }
    }

    /// Names that two hosts claim: a service with other host or port, a host with other addresses. Each once, with what was heard over one family.
    package var disputes: [Dispute] {
        let disputed = claims.filter { key, sides in
            sides.values.contains { one in
                sides.values.contains { key.type == .srv ? $0 != one : !$0.isSubset(of: one) && !one.isSubset(of: $0) }
            }
        }
        let targets = Set(
            disputed.filter { $0.key.type == .srv }.values.joined().flatMap { $0.value.compactMap(\.host) })
        let oneHost = Set(disputed.keys.filter { !targets.contains($0.name) && mayBeOne($0) })
        let best = Dictionary(grouping: disputed.keys) { RecordKey($0.name, $0.type == .srv ? .srv : .a) }
            .compactMap { keys in
                let certain = keys.value.filter { !oneHost.contains($0) }
                return (certain.isEmpty ? keys.value : certain).min { $0.rank < $1.rank }
            }
        return best.sorted { $0.name.description < $1.name.description }.map { key in
            let sides = (disputed[key] ?? [:]).sorted { $0.key.description < $1.key.description }
            return Dispute(
                name: key.name, owner: key.type == .srv ? .service : oneHost.contains(key) ? .hostOrTwo : .host,
                interface: key.interface,
                sides: sides.map { (host: $0.key, records: $0.value) })
        }
    }

    /// How many services, and how many hosts, were heard of.
    package var count: (services: Int, hosts: Int) {
        let names = Dictionary(grouping: claims.keys, by: { $0.type == .srv }).mapValues { Set($0.map(\.name)).count }
        return (names[true] ?? 0, names[false] ?? 0)
    }

    /// Whether what is said of a host's addresses may be said by one host: its packets come from the addresses that they name, and none names
    /// another's.
    private func mayBeOne(_ key: Key) -> Bool {
        let sameFamily = [(RecordType.a, IPAddress.Family.ipv4), (.aaaa, .ipv6)].compactMap {
            claims[Key(name: key.name, type: $0, interface: key.interface, family: $1)]
        }.filter { $0.count > 1 }
        let saysOwn = sameFamily.joined().allSatisfy { host, records in
            let addresses = records.compactMap { IPAddress($0, scope: 0)?.withoutScope }
            // Packets come from fe80:: addresses, which responders leave out where there are others.
            let isElsewhere = host.family == .ipv6 && host.isLinkLocal && !addresses.contains(where: \.isLinkLocal)
            return isElsewhere || addresses.contains(host.withoutScope)
        }
        let records = claims[key].map { $0.values.flatMap(\.self) } ?? []
        return key.type != .srv && !sameFamily.isEmpty && saysOwn && Set(records).count == records.count
    }

    private mutating func ask(_ name: DomainName, _ type: RecordType) -> [Question] {
        let question = Question(name, type)
        guard asked.count < Self.limit, name.isOfLink, asked.insert(question).inserted else { return [] }
        return [question]
    }

    private mutating func note(_ record: ResourceRecord, _ source: Arrival) {
        let key = Key(
            name: record.name, type: record.type, interface: source.interface, family: source.sender.family)
        guard record.name.isOfLink, claims[key] != nil || claims.count < Self.limit else { return }
        let sides = claims[key] ?? [:]
        let isOwn = own.contains(source.sender.withoutScope)
        let host = isOwn ? sides.keys.first { own.contains($0.withoutScope) } ?? source.sender : source.sender
        // A goodbye.
        if record.ttl == 0 {
            claims[key]?[host]?.remove(record.data)
            if claims[key]?[host]?.isEmpty == true { claims[key]?[host] = nil }
            return
        }
        guard sides[host] != nil || sides.count < Self.mostSides, sides[host]?.count ?? 0 < Self.mostSides else {
            return
        }
        claims[key, default: [:]][host, default: []].insert(record.data)
    }
}

extension IPAddress {
    /// As it is compared between interfaces.
    var withoutScope: IPAddress { masked(to: 128) }
}

extension RecordData {
    /// The host that an SRV record names.
    fileprivate var host: DomainName? { if case .srv(_, _, _, let host) = self { host } else { nil } }
}

extension DomainName {
    /// Where types are listed (RFC 6763 §9).
    static let serviceTypes = DomainName.types(in: .local)
}
