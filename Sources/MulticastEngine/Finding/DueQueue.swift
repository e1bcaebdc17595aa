import DNSMessage

/// Names that are to be looked at again, each after the same time: in the order in which they came.
struct DueQueue: Sendable {
    private let delay: Duration
    private var items: [(due: Duration, name: DomainName)] = []
    private var first = 0

    init(after delay: Duration) { self.delay = delay }

    var deadline: Duration? { first < items.count ? items[first].due : nil }

    mutating func add(_ name: DomainName, at now: Duration) { items.append((now + delay, name)) }

    mutating func takeDue(at now: Duration) -> [DomainName] {
        let start = first
        while first < items.count, items[first].due <= now { first += 1 }
        let due = items[start..<first].map(\.name)
        if first > 64, first > items.count / 2 {
            items.removeFirst(first)
            first = 0
        }
        return due
    }
}
