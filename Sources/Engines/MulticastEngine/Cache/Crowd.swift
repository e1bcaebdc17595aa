import DNSMessage

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
    struct Group: Hashable, Sendable {
        let source: PacketSource
        /// Whether they name services without SRV records.
        let isBare: Bool
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
