/// When established names are announced (RFC 6762 §8.3): at once, after a second, and after two more. A value.
package struct Announcing: Sendable {
    /// The intervals before the second and third announcement.
    private static let intervals = [Duration.seconds(1), .seconds(2)]
    /// The most changes of a claim's records in a minute that are announced when they come (RFC 6762 §8.4); later ones wait.
    private static let mostChanges = 10
    private static let minute = Duration.seconds(60)

    /// What is announced at the same times.
    private struct Series {
        var next: Duration
        var sent = 0
        var members: Set<ClaimID>
    }

    private var series: [Series] = []
    private var changes: [ClaimID: [Duration]] = [:]

    package init() {}

    /// When something is due; nil for never.
    package var deadline: Duration? { series.lazy.map(\.next).min() }

    /// A name is established: announces it at once.
    package mutating func established(_ ids: [ClaimID], at now: Duration) {
        stop(ids)
        add(ids, at: now)
    }

    /// The records of an established name have changed (RFC 6762 §8.4).
    package mutating func changed(_ id: ClaimID, at now: Duration) {
        // One that waits already will say what is new by then.
        if let waiting = series.first(where: { $0.sent == 0 && $0.members.contains(id) }), waiting.next > now { return }
        stop([id])
        var times = (changes[id] ?? []).filter { now - $0 < Self.minute }
        let start = times.count < Self.mostChanges ? now : max(now, (times.first ?? now) + Self.minute)
        times.append(start)
        changes[id] = times.suffix(Self.mostChanges)
        add([id], at: start)
    }

    private mutating func add(_ ids: [ClaimID], at start: Duration) {
        guard !ids.isEmpty else { return }
        if let same = series.firstIndex(where: { $0.sent == 0 && $0.next == start }) {
            series[same].members.formUnion(ids)
        } else {
            series.append(Series(next: start, members: Set(ids)))
        }
    }

    private mutating func stop(_ ids: [ClaimID]) {
        guard !series.isEmpty else { return }
        for index in series.indices { series[index].members.subtract(ids) }
        series.removeAll(where: \.members.isEmpty)
    }

    /// A name is given up.
    package mutating func leave(_ id: ClaimID) {
        stop([id])
        changes[id] = nil
    }

    /// Takes the names whose announcement is due.
    package mutating func take(at now: Duration) -> [ClaimID] {
        var due: [ClaimID] = []
        for index in series.indices where series[index].next <= now {
            due += series[index].members.sorted()
            if series[index].sent < Self.intervals.count {
                series[index].next = now + Self.intervals[series[index].sent]
                series[index].sent += 1
            } else {
                series[index].members = []
            }
        }
        if !due.isEmpty { series.removeAll(where: \.members.isEmpty) }
        return due
    }
}
