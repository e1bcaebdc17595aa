internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem

extension ControlResponder {
    func types(_ query: QueryString) async throws(ControlError) -> ControlAnswer {
        try query.allow(QueryString.ofTypes.union(["wait"]))
        let types = network.types(try Self.typeQuery(query))
        let found = await Self.found(types, until: .settled, within: try query.patience()) { event in
            if case .found(let type, let domain, let interfaces) = event { (type, domain, interfaces) } else { nil }
        }
        return .json { object in
            object.array("types", of: found) { array, item in
                let (type, domain, interfaces) = item
                array.object { $0.typeMembers(type, domain, interfaces: interfaces.map(\.name)) }
            }
        }
    }

    func watchTypes(_ query: QueryString) throws(ControlError) -> ControlAnswer {
        try query.allow(QueryString.ofTypes)
        return watch(network.types(try Self.typeQuery(query))) { event, writer in
            switch event {
            case .found(let type, let domain, let interfaces):
                writer.line("added") { $0.typeMembers(type, domain, interfaces: interfaces.map(\.name)) }
            case .lost(let type, let domain): writer.line("removed") { $0.typeMembers(type, domain) }
            case .settled: writer.line("settled")
            case .backend(let state): writer.backendLine(state)
            case .degraded(let reason): writer.degradedLine(reason)
            }
        }
    }

    func domains(_ query: QueryString) async throws(ControlError) -> ControlAnswer {
        try query.allow(QueryString.ofDomains.union(["wait"]), repeated: ["domain", "interface"])
        let domains = network.domains(try domainQuery(query))
        let found = await Self.found(domains, until: .settled, within: try query.patience()) { event in
            if case .found(let domain) = event { domain } else { nil }
        }
        return .json { $0.member("domains", found.map(\.text)) }
    }

    func watchDomains(_ query: QueryString) throws(ControlError) -> ControlAnswer {
        try query.allow(QueryString.ofDomains, repeated: ["domain", "interface"])
        return watch(network.domains(try domainQuery(query))) { event, writer in
            switch event {
            case .found(let domain): writer.line("added") { $0.member("domain", domain.text) }
            case .lost(let domain): writer.line("removed") { $0.member("domain", domain.text) }
            case .settled: writer.line("settled")
            case .backend(let state): writer.backendLine(state)
            case .degraded(let reason): writer.degradedLine(reason)
            }
        }
    }

    func watchBackend(_ query: QueryString) throws(ControlError) -> ControlAnswer {
        try query.allow([])
        return watch(network.backendStates()) { state, writer in writer.backendLine(state) }
    }

    /// What a stream has found when its list is complete, or time is up.
    private static func found<Event: Hashable, Item: Sendable>(
        _ events: EventStream<Event>, until settled: Event, within patience: Duration,
        _ item: @escaping @Sendable (Event) -> Item?
    ) async -> [Item] {
        await withTimeLimit(patience) {
            var found: [Item] = []
            var iterator = events.makeAsyncIterator()
            while let event = try? await iterator.next(), event != settled {
                if let item = item(event) { found.append(item) }
            }
            return found
        }
    }

    private func watch<Event>(
        _ events: EventStream<Event>, _ write: @escaping @Sendable (Event, inout JSONWriter) -> Void
    ) -> ControlAnswer {
        .lines(
            status: 200,
            PresenceLines(events.makeAsyncIterator()) { iterator in
                guard let batch = try? await iterator.nextBatch(atMost: 256) else { return nil }
                var writer = JSONWriter()
                for event in batch { write(event, &writer) }
                return writer.bytes
            })
    }

    private static func typeQuery(_ query: QueryString) throws(ControlError) -> TypeQuery {
        do throws(DiscoveryError) {
            return TypeQuery(domain: try query.domain(), interfaces: try query.interfaces(), family: try query.family())
        } catch {
            throw ControlError(error)
        }
    }

    /// Domains that one question may name.
    private static let mostRecommenders = 16

    private func domainQuery(_ query: QueryString) throws(ControlError) -> DomainQuery {
        let purpose: DomainQuery.Purpose
        switch query["purpose"] {
        case nil, "", "browsing": purpose = .browsing
        case "registration": purpose = .registration
        default: throw ControlError(400, "invalid-request", "purpose is `browsing` or `registration`")
        }
        do throws(DiscoveryError) {
            let domains = try query.all("domain").map { text throws(DiscoveryError) in try Domain(text) }
            guard domains.count <= Self.mostRecommenders else {
                throw DiscoveryError(.invalidDomain, "more than \(Self.mostRecommenders) domains at a time")
            }
            if let other = domains.first(where: { !network.finds(in: $0) }) {
                throw DiscoveryError(.invalidDomain, "nothing here asks about the domain \(other)")
            }
            return DomainQuery(purpose, of: domains, interfaces: try query.interfaces())
        } catch {
            throw ControlError(error)
        }
    }
}

extension JSONWriter {
    /// Writes the members of a service type.
    mutating func typeMembers(_ type: ServiceType, _ domain: Domain, interfaces: [String]? = nil) {
        member("type", type.description)
        member("domain", domain.text)
        if let interfaces { member("interfaces", interfaces) }
    }
}

/// Lines from an iterator, which keeps its query open while it exists.
private actor PresenceLines<Iterator>: LineSource {
    private var iterator: Iterator?
    private let lines: @Sendable (inout Iterator) async -> [UInt8]?

    init(_ iterator: sending Iterator, _ lines: @escaping @Sendable (inout Iterator) async -> [UInt8]?) {
        self.iterator = iterator
        self.lines = lines
    }

    func next() async -> [UInt8]? {
        while var current = iterator {
            let bytes = await lines(&current)
            iterator = bytes == nil ? nil : current
            guard let bytes, bytes.isEmpty else { return bytes }
        }
        return nil
    }

    func end() async { iterator = nil }
}
