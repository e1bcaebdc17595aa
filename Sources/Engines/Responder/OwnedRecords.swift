package import DNSMessage
package import DNSSD

/// What a link is told: the records of all established claims, by name and by content. Equal records of several claims are one.
package struct OwnedRecords: Sendable {
    /// When a record is said.
    package enum Kind: Sendable {
        /// Announced, and if asked.
        case announced
        /// If asked for a type that the name has not.
        case negative
        /// If asked.
        case quiet
    }

    /// Thousands are kept: it is as small as it can be.
    package struct Entry: Sendable {
        package let record: ResourceRecord
        package let kind: Kind
        /// Its index among the records of its name.
        fileprivate var rank: Int32
        /// How many claims have it, over each family.
        fileprivate var users = ByFamily<Int32>(ipv4: 0, ipv6: 0)
        /// When it was last multicast, in nanoseconds; 0 for never.
        fileprivate var times = ByFamily<Int64>(ipv4: 0, ipv6: 0)

        /// Nobody else has it (RFC 6762 §2).
        package var isUnique: Bool { record.flushesCache }

        /// Whether it is said over a family.
        package func isSaid(over family: IPAddress.Family) -> Bool { users[family] > 0 }

        /// When it was last multicast over a family.
        package func said(over family: IPAddress.Family) -> Duration? {
            times[family] == 0 ? nil : .nanoseconds(times[family])
        }
    }

    /// A record that no claim has any more over a family.
    package typealias Gone = (place: Int, entry: Entry, family: IPAddress.Family)

    /// One number for each family.
    fileprivate struct ByFamily<Number: Sendable>: Sendable {
        var ipv4: Number
        var ipv6: Number

        subscript(family: IPAddress.Family) -> Number {
            get { family == .ipv4 ? ipv4 : ipv6 }
            set { if family == .ipv4 { ipv4 = newValue } else { ipv6 = newValue } }
        }
    }

    private struct Content: Hashable {
        let name: DomainName
        let type: RecordType
        let data: RecordData

        init(_ record: ResourceRecord) { (name, type, data) = (record.name, record.type, record.data) }
    }

    private var entries: [Entry?] = []
    private var free: [Int] = []
    private var names: [DomainName: [Int]] = [:]
    /// Pointers alone, of which one name may have thousands: of other types a name has few records.
    private var pointers: [Content: Int] = [:]

    package init() {}

    /// How many there are, for `make fuzz-responder`.
    package var count: Int { entries.count - free.count }

    package subscript(place: Int) -> Entry? { entries.indices.contains(place) ? entries[place] : nil }

    /// The places of a name's records.
    package func places(of name: DomainName) -> [Int] { names[name] ?? [] }

    /// The place of a record with the same name, type and data, whatever its TTL.
    package func place(of record: ResourceRecord) -> Int? {
        guard record.recordClass == .internet else { return nil }
        guard record.type != .ptr else { return pointers[Content(record)] }
        return names[record.name]?.first { place in
            self[place].map { $0.record.type == record.type && $0.record.data == record.data } ?? false
        }
    }

    // MARK: Changes

    /// Adds a claim's records.
    /// - Returns: their places, in order.
    package mutating func add(_ records: ClaimedRecords, over families: Set<IPAddress.Family>) -> [Int] {
        (records.unique + records.shared).map { add($0, .announced, families) }
            + records.negative.map { add($0, .negative, families) } + records.quiet.map { add($0, .quiet, families) }
    }

    private mutating func add(_ record: ResourceRecord, _ kind: Kind, _ families: Set<IPAddress.Family>) -> Int {
        if let place = place(of: record) {
            for family in families { entries[place]?.users[family] += 1 }
            return place
        }
        let place = free.popLast() ?? entries.count
        if place == entries.count { entries.append(nil) }
        let rank = Int32(clamping: names[record.name]?.count ?? 0)
        var entry = Entry(record: record, kind: kind, rank: rank)
        for family in families { entry.users[family] += 1 }
        entries[place] = entry
        names[record.name, default: []].append(place)
        if record.type == .ptr { pointers[Content(record)] = place }
        return place
    }

    /// Takes a claim's records away, over the families over which they were added.
    /// - Returns: those that no other claim has over a family, for each such family.
    package mutating func remove(_ places: [Int], over families: Set<IPAddress.Family>) -> [Gone] {
        var gone: [Gone] = []
        for place in places {
            guard var entry = self[place] else { continue }
            for family in families {
                entry.users[family] -= 1
                guard !entry.isSaid(over: family) else { continue }
                entry.times[family] = 0
                gone.append((place, entry, family))
            }
            guard entry.users.ipv4 == 0, entry.users.ipv6 == 0 else {
                entries[place] = entry
                continue
            }
            entries[place] = nil
            if entry.record.type == .ptr { pointers[Content(entry.record)] = nil }
            free.append(place)
            leave(entry)
        }
        return gone
    }

    /// Puts the last record of the name in the place of one that goes: a list may have thousands.
    private mutating func leave(_ entry: Entry) {
        let name = entry.record.name
        guard let last = names[name]?.popLast() else { return }
        if names[name]?.isEmpty == true { names[name] = nil }
        guard let count = names[name]?.count, entry.rank < count else { return }
        names[name]?[Int(entry.rank)] = last
        entries[last]?.rank = entry.rank
    }

    /// A record was multicast.
    package mutating func said(_ place: Int, over family: IPAddress.Family, at now: Duration) {
        guard entries.indices.contains(place) else { return }
        let (seconds, attoseconds) = now.components
        let time = max(min(seconds, 1 << 33) * 1_000_000_000 + attoseconds / 1_000_000_000, 1)
        entries[place]?.times[family] = time
    }

    // MARK: Answers

    /// The records that answer a question over a family, each once: those of its type; of a name that is unique and has none, what it has
    /// (RFC 6762 §6.1).
    /// - Parameter most: further ones are left out.
    package func answers(to question: Question, over family: IPAddress.Family, atMost most: Int = .max) -> [Int] {
        guard question.recordClass == .internet || question.recordClass == .any else { return [] }
        let (type, isAny) = (question.type, question.type == .any)
        var (found, negative): ([Int], [Int]) = ([], [])
        for place in places(of: question.name) {
            guard found.count < most else { break }
            guard let entry = self[place], entry.isSaid(over: family) else { continue }
            if entry.record.type == type || isAny && entry.kind != .negative { found.append(place) }
            if entry.kind == .negative { negative.append(place) }
        }
        return found.isEmpty ? negative : found
    }

    /// The records that whoever asked for these will ask for next (RFC 6763 §12, RFC 6762 §6.2), without these.
    package func additions(to places: [Int], over family: IPAddress.Family) -> [Int] {
        var known = Set(places)
        var added: [Int] = []
        // What is added leads further: from a PTR record to SRV, and from there to addresses.
        var rest = places[...]
        while let place = rest.popFirst() {
            for next in successors(of: place, over: family) where known.insert(next).inserted {
                added.append(next)
                rest.append(next)
            }
        }
        return added
    }

    private func successors(of place: Int, over family: IPAddress.Family) -> [Int] {
        guard let entry = self[place] else { return [] }
        let (name, types): (DomainName, Set<RecordType>)
        switch entry.record.data {
        case .ptr(let instance) where entry.kind == .announced: (name, types) = (instance, [.srv, .txt])
        case .srv(_, _, _, let target): (name, types) = (target, [.a, .aaaa])
        case .a, .aaaa: (name, types) = (entry.record.name, [.a, .aaaa])
        default: return []
        }
        let all = self.places(of: name).compactMap { place in self[place].map { (place, $0) } }
            .filter { $0.1.isSaid(over: family) }
        let found = all.filter { types.contains($0.1.record.type) && $0.1.isUnique }
        // A host of one family has no addresses of the other.
        let isHalf = types.contains(.a) && Set(found.map(\.1.record.type)).count == 1
        return found.map(\.0) + (isHalf ? all.filter { $0.1.kind == .negative }.map(\.0) : [])
    }
}
