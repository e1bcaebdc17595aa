package import DNSMessage
package import DNSSD
package import Discovery
package import Records

/// A link as a source of records: what is wanted is asked for, and what is known is in the cache.
extension LinkQuerier: RecordSource {
    /// How long a host that withdrew its addresses counts as leaving, and a service that was probed for as about to return.
    private static let memory = Duration.seconds(5)

    package mutating func want(_ key: RecordKey, _ urgency: Urgency, from sender: UInt16?, at now: Duration) {
        let source = sender.map { PacketSource(number: $0) }
        switch urgency {
        case .list: ask(key, .shared, at: now)
        case .listed(let delay): ask(key, .unique(after: delay), from: source, at: now)
        case .awaited(let delay):
            ask(key, .unique(after: delay), from: source, at: now)
            askOnce(key, at: now)
        }
    }

    package mutating func drop(_ key: RecordKey) { stop(key) }

    package func records(_ key: RecordKey) -> [KnownRecord] {
        var records: [KnownRecord] = []
        cache.look(key) { record in
            records.append(KnownRecord(record))
            return false
        }
        return records
    }

    package func record(_ key: RecordKey, _ data: RecordData) -> KnownRecord? {
        cache.slot(of: key, data).flatMap { cache.store[$0] }.map { KnownRecord($0) }
    }

    package func data(_ key: RecordKey, atMost limit: Int, where isWanted: (RecordData) -> Bool) -> [RecordData] {
        cache.data(key, atMost: limit, where: isWanted)
    }

    package func subtypeLists(of type: DomainName, atMost limit: Int) -> [DomainName] {
        cache.subtypeLists(of: type, atMost: limit)
    }

    package func standing(_ key: RecordKey) -> Standing { cache.isDenied(key) ? .denied : .unknown }

    package func isNear(_ data: RecordData) -> Bool { cache.isOfNeighbour(data) }

    /// A service is withdrawn if its host has not withdrawn its addresses, no one probes for the name, and no one answers for
    /// it.
    ///
    /// A responder that restarts announces its addresses first. A goodbye of the PTR record alone is followed by a
    /// question for SRV (`confirm`): one that restarts answers it, or probes for the name.
    package func isWithdrawn(_ service: DomainName, from hosts: [DomainName], at now: Duration) -> Bool {
        let isHostThere = hosts.contains {
            (cache.isAnswered(RecordKey($0, .a)) || cache.isAnswered(RecordKey($0, .aaaa)))
                && !cache.farewells.contains($0, since: now - Self.memory)
        }
        return isHostThere && !cache.probes.contains(service, since: now - Self.memory)
            && (!cache.isAnswered(RecordKey(service, .srv)) || isSilent(service, at: now))
    }

    package func isOwn(_ service: DomainName, _ records: ServiceRecords, in list: RecordKey?, at now: Duration) -> Bool?
    {
        records.isOwn && list.map { cache.isOwn($0, .ptr(service)) } ?? true
    }

    package func complete(_ resolution: inout Resolution, from records: ServiceRecords) {
        resolution.sender = records.sender
    }
}

extension KnownRecord {
    fileprivate init(_ record: CachedRecord) {
        self.init(
            record.data, sender: record.life.source.number, isOwn: record.life.isOwn, isEnding: record.life.isEnding,
            received: record.life.received, firstReceived: record.life.firstReceived)
    }
}

// What is known of how complete a list is.
extension LinkQuerier {
    /// How long it counts that a list was named: the type's last service may go, and its type stay known for more than an hour.
    private static let named = Duration.seconds(10)

    /// Notes which lists a response to the group answers.
    /// - Parameters:
    ///   - source: who sent it; nil: this machine.
    ///   - sender: its source over IPv4.
    ///   - size: the message's, in bytes.
    mutating func noteAnswers(
        _ answers: [ResourceRecord], by source: PacketSource?, _ sender: IPv4Address?, size: Int, at now: Duration
    ) {
        guard lists.values.contains(where: { $0.listens(at: now) }) else { return }
        // A host lists many with the same name in a row.
        var last: DomainName?
        for answer in answers where answer.type == .ptr && answer.ttl > 0 && answer.name != last {
            last = answer.name
            let key = RecordKey(answer.name, .ptr)
            lists[key]?.answered(by: source, .group, isFull: size >= ListAnswers.full, at: now)
            // The list is not held here: it would be copied at its change.
            guard let sender, lists[key]?.hosts.mayAsk == true else { continue }
            if lists[key]?.listens(at: now) == true {
                lists[key]?.hosts.heard(answers.targets(of: key), from: sender, at: now)
            } else {
                lists[key]?.hosts.stop()
            }
        }
    }

    /// What the answers say of a list: of one that was asked for long ago, nothing.
    /// - Parameter family: over which it is wanted; nil for both.
    package func verdict(
        on key: RecordKey, over family: IPAddress.Family? = nil, at now: Duration
    ) -> ListAnswers.Verdict {
        let answers = lists[key].flatMap { $0.listens(at: now) ? $0 : nil }
        let verdict =
            answers?.verdict(timesAsked: timesAsked(key)) { isOverIPv4($0, of: key, over: family) } ?? .open
        guard verdict == .open || verdict == .slow, !cache.isAnswered(key), let types = Self.types, types != key else {
            return verdict
        }
        // Somebody has just said that there is such a type.
        let isNamed = cache.records(types).contains {
            $0.data == .ptr(key.name) && !$0.life.isEnding && now - $0.life.received < Self.named
        }
        return isNamed ? .unanswered : verdict
    }
}
