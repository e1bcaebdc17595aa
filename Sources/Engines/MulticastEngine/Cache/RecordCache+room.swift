package import DNSMessage
import DNSSD
import Discovery

// Decides which records are kept if more are announced than there is room for.

extension RecordCache {
    mutating func insert(
        _ record: CachedRecord, at now: Duration, _ isWatched: (RecordKey) -> Bool, _ changes: inout [Change]
    ) {
        let (key, data) = (record.key, record.data)
        if key.type.isShared {
            guard admits(record, to: .list(key), at: now, isWatched, &changes) else { return }
        } else {
            guard hasPlace(for: key, data, &changes) else { return }
        }
        guard admits(record, to: .cache, at: now, isWatched, &changes) else { return }
        queue(store.insert(record))
        changes.append(.added(key, data))
    }

    /// Whether there is so much room that the cache will not be full again at once.
    var hasRoom: Bool {
        mutating get {
            crowds = crowds.filter { place, _ in
                switch place {
                case .list(let key): store.count(of: key) > limits.sharedRecords / 4 * 3
                case .cache: count > limits.records / 4 * 3 || store.size > limits.bytes / 4 * 3
                }
            }
            return crowds.isEmpty
        }
    }

    /// Returns whether a record may be added. Once a list or the cache is full, the sources with the most give way.
    private mutating func admits(
        _ record: CachedRecord, to place: Crowd.Place, at now: Duration, _ isWatched: (RecordKey) -> Bool,
        _ changes: inout [Change]
    ) -> Bool {
        if place == .cache, room(in: .cache, for: record) == 0 { forgetUnwatched(at: now, isWatched, &changes) }
        guard !crowds.isEmpty && crowds[place] != nil || room(in: place, for: record) == 0 else { return true }
        isFull = true
        let group = group(of: record)
        if crowds[place]?.mayBeThinned(for: group, at: now) ?? true, room(in: place, for: record) == 0 {
            let members = members(of: place)
            let (crowd, surplus) = Crowd.parting(members, keeping: members.reduce(0) { $0 + $1.weight } / 8 * 7)
            crowds[place] = crowd
            if !crowd.hasTooMuch(group) {
                for slot in surplus { forget(slot, &changes) }
                crowds[place]?.wasThinned(at: now)
            }
        }
        let room = room(in: place, for: record)
        return crowds[place]?.admits(group, room: room) ?? (room > 0)
    }

    /// Forgets what exceeds some bytes.
    mutating func thin(to bytes: Int, at now: Duration) -> [Change] {
        isFull = true
        let (crowd, surplus) = Crowd.parting(members(of: .cache), keeping: bytes)
        crowds[.cache] = crowd
        crowds[.cache]?.wasThinned(at: now)
        var changes: [Change] = []
        for slot in surplus { forget(slot, &changes) }
        return changes
    }

    /// Returns how many more records like this one fit.
    private func room(in place: Crowd.Place, for record: CachedRecord) -> Int {
        switch place {
        case .list(let key): max(0, limits.sharedRecords - store.count(of: key))
        case .cache:
            max(0, min(limits.records - count, (limits.bytes - store.size) / RecordStore.size(record.key, record.data)))
        }
    }

    private func members(of place: Crowd.Place) -> [Crowd.Member] {
        func member(_ slot: Int, weight: Int) -> Crowd.Member? {
            store[slot].map {
                Crowd.Member(slot: slot, group: group(of: $0), weight: weight, since: $0.life.firstReceived)
            }
        }
        return switch place {
        case .list(let key): store.slots(of: key).compactMap { member($0, weight: 1) }
        case .cache:
            store.indices.compactMap { slot in
                store[slot].flatMap { member(slot, weight: RecordStore.size($0.key, $0.data)) }
            }
        }
    }

    private func group(of record: CachedRecord) -> Crowd.Group {
        if case .ptr(let name) = record.data, store.count(of: RecordKey(name, .srv)) == 0 {
            return .bare(record.life.source)
        }
        return .answered(record.life.source)
    }

    private mutating func forget(_ slot: Int, _ changes: inout [Change]) {
        guard let cached = store.remove(slot) else { return }
        changes.append(.removed(cached.key, cached.data))
    }

    /// Forgets the oldest records that no one watches: an eighth of all, so that it does not happen for each record.
    private mutating func forgetUnwatched(
        at now: Duration, _ isWatched: (RecordKey) -> Bool, _ changes: inout [Change]
    ) {
        if let lastSweep, now - lastSweep < Self.sweepInterval { return }
        lastSweep = now
        let unwatched = store.indices.compactMap { slot in
            store[slot].flatMap { !isWatched($0.key) ? (slot: slot, received: $0.life.received) : nil }
        }
        for (slot, _) in unwatched.sorted(by: { $0.received < $1.received }).prefix(max(1, limits.records / 8)) {
            forget(slot, &changes)
        }
    }

    /// Returns whether a name may have another record of this type. A late record displaces no others, except that a
    /// neighbour's address displaces a foreign one.
    private mutating func hasPlace(for key: RecordKey, _ data: RecordData, _ changes: inout [Change]) -> Bool {
        guard store.count(of: key) >= limits.uniqueRecords else { return true }
        guard isOfNeighbour(data) else { return false }
        let strangers = store.slots(of: key).compactMap { slot in
            store[slot].flatMap { isOfNeighbour($0.data) ? nil : (slot: slot, since: $0.life.firstReceived) }
        }
        guard let newest = strangers.max(by: { $0.since < $1.since })?.slot else { return false }
        forget(newest, &changes)
        return true
    }

    /// Returns whether the data is an address that certainly belongs to this link.
    package func isOfNeighbour(_ data: RecordData) -> Bool {
        IPAddress(data, scope: 0).map(isOfNeighbour) ?? false
    }

    /// Returns whether an address certainly belongs to this link; its scope is ignored.
    func isOfNeighbour(_ address: IPAddress) -> Bool {
        address.isLinkLocal || neighbours.contains { $0.contains(address) }
    }
}

/// Decides which records of a full list or cache give way, and which may still be added.
///
/// Names that no one answers for give way first, then all others; of each kind, the newest ones of the sources with the
/// most. So neither made-up names nor a single host can keep others out.
struct Crowd: Sendable {
    enum Place: Hashable, Sendable {
        case list(RecordKey)
        case cache
    }

    /// Records that compete with each other.
    enum Group: Hashable, Sendable {
        /// They name services without SRV records.
        case bare(PacketSource)
        case answered(PacketSource)

        var isBare: Bool { if case .bare = self { true } else { false } }
    }

    struct Member: Sendable {
        let slot: Int
        let group: Group
        let weight: Int
        let since: Duration
    }

    /// The shortest interval between two removals, which cost a look at every member.
    private static let interval = Duration.seconds(1)

    private let tooMuch: Set<Group>
    private var thinned: Duration?
    /// The number of records that other groups have added since.
    private var added: [Group: Int] = [:]

    /// Chooses the members that give way.
    /// - Parameters:
    ///   - members: all records of the list or cache.
    ///   - room: the weight to keep.
    /// - Returns: the crowd, and the slots that give way.
    static func parting(_ members: [Member], keeping room: Int) -> (crowd: Crowd, surplus: [Int]) {
        let groups = Dictionary(grouping: members, by: \.group)
        let weights = groups.mapValues { $0.reduce(0) { $0 + $1.weight } }
        let answered = weights.filter { !$0.key.isBare }.map(\.value)
        let bare = weights.filter(\.key.isBare).map(\.value)
        // Sources may be more than there is room for: each keeps something of what it answers for.
        let share = max(1, share(of: answered, in: room))
        let bareShare = self.share(of: bare, in: max(0, room - answered.reduce(0, +)))
        var tooMuch: Set<Group> = []
        var surplus: [Int] = []
        for (group, members) in groups {
            let share = group.isBare ? bareShare : share
            guard var weight = weights[group], weight > share else { continue }
            tooMuch.insert(group)
            for member in members.sorted(by: { $0.since > $1.since }) {
                guard weight > share else { break }
                surplus.append(member.slot)
                weight -= member.weight
            }
        }
        return (Crowd(tooMuch: tooMuch), surplus)
    }

    /// Returns the weight that each may keep so that all fit; those with less keep everything.
    static func share(of weights: [Int], in room: Int) -> Int {
        var (room, others) = (room, weights.count)
        for weight in weights.sorted() {
            guard weight <= room / others else { return room / others }
            room -= weight
            others -= 1
        }
        return .max
    }

    private init(tooMuch: Set<Group>) { self.tooMuch = tooMuch }

    func hasTooMuch(_ group: Group) -> Bool { tooMuch.contains(group) }

    /// Returns whether to choose again which members give way to a record of this group.
    func mayBeThinned(for group: Group, at now: Duration) -> Bool {
        thinned.map { now - $0 >= Self.interval } ?? !hasTooMuch(group)
    }

    mutating func wasThinned(at now: Duration) { thinned = now }

    /// Returns whether a record may be added where there is room for so many. Members that gave way leave their room to
    /// other groups, each of which leaves half of it.
    mutating func admits(_ group: Group, room: Int) -> Bool {
        guard thinned != nil else { return room > 0 }
        guard !hasTooMuch(group), added[group, default: 0] < room else { return false }
        added[group, default: 0] += 1
        return true
    }
}
