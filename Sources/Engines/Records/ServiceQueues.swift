import DNSMessage
import Discovery

/// Services to look at again, each once however often it is added.
///
/// One address of a host may concern thousands of services: they are processed in parts, with other work in between.
struct EvaluationQueue: Sendable {
    private var names = NameQueue()
    private var hosts = NameQueue()

    var isEmpty: Bool { names.isEmpty && hosts.isEmpty }

    mutating func add(_ name: DomainName) { names.add(name) }

    /// All services on a host.
    mutating func add(host: DomainName) { hosts.add(host) }

    mutating func nextName() -> DomainName? { names.next() }
    /// The next host whose services are to be added, once no names are left.
    mutating func nextHost() -> DomainName? { hosts.next() }
}

/// Names to look at again after a delay. It is the same for all, so they stay in order of arrival.
struct DueQueue: Sendable {
    private let delay: Duration?
    private var items: [(due: Moment, name: DomainName)] = []
    private var first = 0

    /// - Parameter delay: nil for never; then nothing is kept.
    init(after delay: Duration?) { self.delay = delay }

    var deadline: Duration? { first < items.count ? items[first].due.time : nil }

    mutating func add(_ name: DomainName, at now: Duration) {
        if let delay { items.append((Moment(now + delay), name)) }
    }

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

/// Names in order of arrival, each once.
private struct NameQueue: Sendable {
    private var names: [DomainName] = []
    private var first = 0
    private var waiting: Set<DomainName> = []

    var isEmpty: Bool { first == names.count }

    mutating func add(_ name: DomainName) {
        if waiting.insert(name).inserted { names.append(name) }
    }

    mutating func next() -> DomainName? {
        guard first < names.count else { return nil }
        let name = names[first]
        waiting.remove(name)
        first += 1
        if first == names.count {
            names.removeAll(keepingCapacity: first < 256)
            first = 0
        } else if first > 256, first > names.count / 2 {
            names.removeFirst(first)
            first = 0
        }
        return name
    }
}
