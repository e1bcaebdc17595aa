/// Which names are probed for, and when (RFC 6762 §8.1 and §8.2). What begins together is probed for together. A value.
package struct Probing: Sendable {
    /// The longest random wait before a first probe.
    private static let firstWait = 0...250
    /// The interval between probes, and after the last one.
    package static let interval = Duration.milliseconds(250)
    package static let probes = 3
    /// What begins so much later joins those whose first probe is still to come.
    private static let gathering = Duration.milliseconds(50)
    /// The wait after a tiebreak that was lost.
    private static let deferral = Duration.seconds(1)
    /// After so many in a row, others' probes do not count: who won one has the name by then, and says so if it is real.
    private static let mostDeferrals = 3
    /// The wait after a conflict with an established record: the same response comes over the other family a moment later, and would count as
    /// an answer to the first probe.
    private static let doubt = 20...250
    /// So many conflicts in `window` slow down every further attempt to `pause`.
    private static let mostConflicts = 15
    private static let window = Duration.seconds(10)
    private static let pause = Duration.seconds(5)

    /// Names that are probed for at the same times.
    private struct Batch {
        let began: Duration
        var next: Duration
        var sent = 0
        var members: [ClaimID]
    }

    private var batches: [Batch] = []
    private(set) var members: Set<ClaimID> = []
    /// Those for which a probe was sent: what was said before does not count.
    private var asked: Set<ClaimID> = []
    /// How many tiebreaks were lost in a row, and when the last was: a doubt that is over does not begin a new row.
    private var deferrals: [ClaimID: (count: Int, last: Duration)] = [:]
    /// The times of the last conflicts.
    private var conflicts: [Duration] = []
    private var random: any RandomNumberGenerator & Sendable

    package init(random: any RandomNumberGenerator & Sendable) { self.random = random }

    /// Why a name is probed for.
    package enum Cause: Sendable {
        /// It is wanted.
        case wanted
        /// Somebody has said something else of it (RFC 6762 §9).
        case doubted
        /// A tiebreak was lost.
        case deferred
    }

    /// When something is due; nil for never.
    package var deadline: Duration? { batches.lazy.map(\.next).min() }

    /// Whether a name is probed for; of one that waits for its first probe, answers do not count (RFC 6762 §8.1).
    package func isAsked(_ id: ClaimID) -> Bool { asked.contains(id) }

    /// Begins to probe for a name, or begins anew.
    package mutating func begin(_ id: ClaimID, _ cause: Cause, at now: Duration) {
        remove(id)
        wait(for: id, cause, at: now)
    }

    /// Another host probes for the name, too, and may have it (RFC 6762 §8.2).
    package mutating func lostTiebreak(_ id: ClaimID, at now: Duration) {
        var row = deferrals[id] ?? (0, now)
        if now - row.last > Self.window { row.count = 0 }
        guard row.count < Self.mostDeferrals else { return }
        remove(id)
        deferrals[id] = (row.count + 1, now)
        wait(for: id, .deferred, at: now)
    }

    private mutating func wait(for id: ClaimID, _ cause: Cause, at now: Duration) {
        members.insert(id)
        let earliest = slowed(at: now) ?? now
        switch cause {
        case .wanted:
            let joined = batches.firstIndex { $0.sent == 0 && $0.next >= earliest && now - $0.began <= Self.gathering }
            if let joined { return batches[joined].members.append(id) }
            add(id, at: now, .milliseconds(Int.random(in: Self.firstWait, using: &random)), from: earliest)
        case .doubted: add(id, at: now, .milliseconds(Int.random(in: Self.doubt, using: &random)), from: earliest)
        case .deferred: add(id, at: now, Self.deferral, from: earliest)
        }
    }

    private mutating func add(_ id: ClaimID, at now: Duration, _ wait: Duration, from earliest: Duration) {
        let next = max(now + wait, earliest)
        if let same = batches.firstIndex(where: { $0.sent == 0 && $0.next == next }) {
            batches[same].members.append(id)
        } else {
            batches.append(Batch(began: now, next: next, members: [id]))
        }
    }

    /// Stops probing for a name.
    package mutating func leave(_ id: ClaimID) {
        remove(id)
        deferrals[id] = nil
    }

    private mutating func remove(_ id: ClaimID) {
        asked.remove(id)
        guard members.remove(id) != nil else { return }
        for index in batches.indices.reversed() {
            batches[index].members.removeAll { $0 == id }
            if batches[index].members.isEmpty { batches.remove(at: index) }
        }
    }

    /// Notes a conflict, which may slow down what follows.
    package mutating func conflicted(at now: Duration) {
        conflicts.append(now)
        if conflicts.count > Self.mostConflicts { conflicts.removeFirst() }
    }

    /// When the next attempt may begin, if there were too many conflicts.
    private func slowed(at now: Duration) -> Duration? {
        guard conflicts.count >= Self.mostConflicts, let first = conflicts.first, now - first <= Self.window else {
            return nil
        }
        return now + Self.pause
    }

    /// Takes the names whose probes are due, and those for which the time of the last one is over.
    package mutating func take(at now: Duration) -> (probed: [ClaimID], won: [ClaimID]) {
        var (probed, won): ([ClaimID], [ClaimID]) = ([], [])
        for index in batches.indices where batches[index].next <= now {
            if batches[index].sent == Self.probes {
                won += batches[index].members
                batches[index].members = []
            } else {
                probed += batches[index].members
                batches[index].sent += 1
                batches[index].next = now + Self.interval
            }
        }
        batches.removeAll(where: \.members.isEmpty)
        for id in won {
            members.remove(id)
            asked.remove(id)
        }
        asked.formUnion(probed)
        return (probed, won)
    }

    /// What was taken now will be on its way for a while: the next interval begins after that.
    package mutating func wait(_ lag: Duration, at now: Duration) {
        guard lag > .zero else { return }
        for index in batches.indices where batches[index].next == now + Self.interval { batches[index].next += lag }
    }
}
