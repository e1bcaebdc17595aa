/// Who gives way in a full list, or a full cache, and who may still add to it.
///
/// First names that no one answers for, then everything else: of each kind, the newest of the sources that have most.
/// So neither made-up names nor a single host can keep others out.
struct Crowd: Sendable {
    enum Place: Hashable, Sendable {
        case list(RecordKey)
        case cache
    }

    /// Records that compete with each other.
    struct Group: Hashable, Sendable {
        let source: PacketSource
        /// They name services without SRV records.
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
    /// What others have added since.
    private var added: [Group: Int] = [:]

    /// - Parameter room: the weight to keep.
    /// - Returns: the crowd, and the slots that give way.
    static func parting(_ members: [Member], keeping room: Int) -> (crowd: Crowd, surplus: [Int]) {
        let groups = Dictionary(grouping: members, by: \.group)
        let weights = groups.mapValues { $0.reduce(0) { $0 + $1.weight } }
        let answered = weights.filter { !$0.key.isBare }.map(\.value)
        let bare = weights.filter(\.key.isBare).map(\.value)
        let share = share(of: answered, in: room)
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

    /// What each may keep so that all fit: those with less keep everything.
    private static func share(of weights: [Int], in room: Int) -> Int {
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

    /// Whether to look again for who gives way to a record of this group.
    func mayBeThinned(for group: Group, at now: Duration) -> Bool {
        thinned.map { now - $0 >= Self.interval } ?? !hasTooMuch(group)
    }

    mutating func wasThinned(at now: Duration) { thinned = now }

    /// Whether a record may be added where there is room for so many. What gave way leaves the room to others, and each
    /// of them leaves half of it.
    mutating func admits(_ group: Group, room: Int) -> Bool {
        guard thinned != nil else { return room > 0 }
        guard !hasTooMuch(group), added[group, default: 0] < room else { return false }
        added[group, default: 0] += 1
        return true
    }
}
