package import DNSMessage
import DNSSD
internal import Records

// What is known.

extension RecordCache {
    /// Passes on the records of a key that are in view, until `isEnough` returns true.
    func look(_ key: RecordKey, _ isEnough: (CachedRecord) -> Bool) {
        guard let view else { return store.look(key, isEnough) }
        store.look(key) { $0.life.hearing.includes(view) && isEnough($0) }
    }

    /// The slot of a record that is in view.
    func slot(of key: RecordKey, _ data: RecordData) -> Int? {
        guard let slot = store.slot(of: key, data) else { return nil }
        return view.map { store[slot]?.life.hearing.includes($0) == false } == true ? nil : slot
    }

    /// Returns the records of a key that have not expired.
    package func records(_ key: RecordKey) -> [CachedRecord] {
        var records: [CachedRecord] = []
        look(key) { record in
            records.append(record)
            return false
        }
        return records
    }

    /// Returns the data of at most `limit` wanted records of a key; there may be thousands.
    package func data(_ key: RecordKey, atMost limit: Int, where isWanted: (RecordData) -> Bool) -> [RecordData] {
        var found: [RecordData] = []
        look(key) { record in
            if isWanted(record.data) { found.append(record.data) }
            return found.count >= limit
        }
        return found
    }

    /// Returns the names of at most `limit` lists of a type's subtypes.
    func subtypeLists(of type: DomainName, atMost limit: Int) -> [DomainName] {
        var found: Set<DomainName> = []
        for slot in store.indices where found.count < limit {
            guard let key = store[slot]?.key, key.type == .ptr, key.name.listedType == type else { continue }
            found.insert(key.name)
        }
        return Array(found)
    }

    /// Returns whether a record is in the cache.
    package func has(_ key: RecordKey, _ data: RecordData) -> Bool { slot(of: key, data) != nil }

    /// Passes on the known answers to a question: records of which less than half their life has passed (RFC 6762 §7.1).
    ///
    /// Of the names that one source lists and no one answers for, it repeats some: who lists thousands may list them again.
    package func knownAnswers(_ key: RecordKey, at now: Duration, to body: (ResourceRecord) -> Void) {
        var bare: [PacketSource: Int] = [:]
        let isCrowded = store.count(of: key) > Self.bareAnswers
        store.look(key) { record in
            guard !record.life.isStale(at: now), isHeardEverywhere(record.life) else { return false }
            if isCrowded, case .ptr(let name) = record.data, store.count(of: RecordKey(name, .srv)) == 0 {
                bare[record.life.source, default: 0] += 1
                if bare[record.life.source, default: 0] > Self.bareAnswers { return false }
            }
            body(record.record(at: now))
            return false
        }
    }

    /// Returns whether a record is known and less than half its life has passed.
    package func isFresh(_ key: RecordKey, _ data: RecordData, at now: Duration) -> Bool {
        store.slot(of: key, data).flatMap { store[$0]?.life.isStale(at: now) } == false
    }

    /// Returns whether this machine sent a record.
    package func isOwn(_ key: RecordKey, _ data: RecordData) -> Bool {
        slot(of: key, data).flatMap { store[$0]?.life.isOwn } ?? false
    }

    /// How long another host's name counts as taken without a probe: hosts do not always defend what they have just said.
    static let claim = Duration.seconds(10)

    /// Returns whether another host said a moment ago that it has a service.
    /// - Parameter own: this machine's host, to which a repeater may make the service point.
    package func isOthers(_ service: DomainName, own: DomainName?, at now: Duration) -> Bool {
        records(RecordKey(service, .srv)).contains { record in
            guard case .srv(_, _, _, let host) = record.data else { return false }
            let life = record.life
            return !life.isOwn && !life.isEnding && host != own && now - life.received < Self.claim
        }
    }

    private func contains(_ key: RecordKey, where isWanted: (RecordLife) -> Bool = { _ in true }) -> Bool {
        store.contains(key) { life in (view.map(life.hearing.includes) ?? true) && isWanted(life) }
    }

    /// Returns whether a key has a record that is not ending.
    package func isAnswered(_ key: RecordKey) -> Bool { contains(key) { !$0.isEnding } }

    /// Returns whether a key has a record that is not ending and was heard over all needed families.
    package func isAnsweredEverywhere(_ key: RecordKey) -> Bool {
        contains(key) { !$0.isEnding && isHeardEverywhere($0) }
    }

    func isHeardEverywhere(_ life: RecordLife) -> Bool { needed.allSatisfy(life.hearing.includes) }

    /// Returns whether a host has denied that a name has records of this type (RFC 6762 §6.1), and none has arrived
    /// since. Of an alias this says nothing: the types are those of the name to which it leads.
    package func isDenied(_ key: RecordKey) -> Bool {
        guard !contains(key) else { return false }
        return records(RecordKey(key.name, .nsec)).contains {
            guard case .nsec(_, let types) = $0.data else { return false }
            return !$0.life.isEnding && !types.contains(key.type) && !types.contains(.cname)
        }
    }
}
