import DNSMessage

/// Names that are to be looked at again, each after the same time: in the order in which they came.
struct DueQueue: Sendable {
    private let delay: Duration
    private var items: [(due: Moment, name: DomainName)] = []
    private var first = 0

    init(after delay: Duration) { self.delay = delay }

    var deadline: Duration? { first < items.count ? items[first].due.time : nil }

    mutating func add(_ name: DomainName, at now: Duration) { items.append((Moment(now + delay), name)) }

    /// - Parameter limit: so many at most; the rest is due still.
    mutating func takeDue(at now: Duration, atMost limit: Int) -> [DomainName] {
        let (start, now) = (first, Moment(now))
        while first < items.count, first - start < limit, items[first].due <= now { first += 1 }
        let due = items[start..<first].map(\.name)
        if first > 64, first > items.count / 2 {
            items.removeFirst(first)
            first = 0
        }
        return due
    }
}
