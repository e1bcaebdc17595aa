import DNSMessage

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
