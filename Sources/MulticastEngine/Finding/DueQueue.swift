import DNSMessage

/// Names to look at again after a delay. It is the same for all, so they stay in order of arrival.
struct DueQueue: Sendable {
    private let delay: Duration
    private var items: [(due: Moment, name: DomainName)] = []
    private var first = 0

    init(after delay: Duration) { self.delay = delay }

    var deadline: Duration? { first < items.count ? items[first].due.time : nil }

    mutating func add(_ name: DomainName, at now: Duration) { items.append((Moment(now + delay), name)) }

    /// - Parameter limit: the most to return; the rest stay due.
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
