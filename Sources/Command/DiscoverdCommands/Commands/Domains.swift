#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON

/// `browse --domains`: the domains that are recommended for browsing and for registering (RFC 6763 §11), by the link and, where DNS servers
/// answer, by the search domains and networks of this host.
struct DomainListing {
    /// Only one kind.
    let only: Kind?
    let follows: Bool
    let timeout: Duration?
    let domain: DomainsOption
    let place: NetworkOptions

    /// Which domains it is about.
    static func wish(_ domain: DomainsOption) -> DomainWish {
        var wish = domain.wish
        wish.isOptional = domain.named.isEmpty
        return wish
    }

    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case browsing, registration

        var purpose: DomainQuery.Purpose { self == .browsing ? .browsing : .registration }
    }

    func run(in session: Session) async throws -> ExitStatus {
        var recommendations = Recommendations(session, try sources(session), for: self)
        return try await recommendations.run()
    }

    private func sources(_ session: Session) throws -> [Recommendations.Source] {
        let interfaces = try place.interfaces()
        let servers = domain.named.isEmpty ? session.servers.map { LocalNetwork(engine: $0.engine) } : nil
        return (only.map { [$0] } ?? Kind.allCases).flatMap { kind in
            domain.domains.map { domain in
                let query = DomainQuery(kind.purpose, of: [domain], interfaces: interfaces)
                return .init(kind: kind, domain: domain, events: session.network.domains(query))
            } + (servers.map { [.init(kind: kind, domain: nil, events: $0.domains(DomainQuery(kind.purpose)))] } ?? [])
        }
    }
}

/// What the link, and DNS servers, recommend: each domain once, however many recommend it.
private struct Recommendations {
    /// One question.
    struct Source {
        let kind: DomainListing.Kind
        /// The domain that is asked; nil for the DNS servers of this host's search domains and networks, which need not answer.
        let domain: Domain?
        let events: DomainEvents
    }

    private struct Entry: Hashable {
        let domain: Domain
        let kind: DomainListing.Kind

        var record: Record { Record(.init(safe: domain, 24), .init(kind.rawValue, 0)) }

        func write(to json: inout JSONWriter) {
            json.member("domain", domain.text)
            json.member("purpose", kind.rawValue)
        }
    }

    /// How long DNS servers may take that nobody named, though the link's list is complete.
    private static let patience = Duration.seconds(1)

    private let session: Session
    private let sources: [Source]
    private var list: ListRun
    /// Resolvers that are asked though nobody named a domain.
    private let resolvers: [String]
    /// Questions whose lists are not complete: those that are waited for, and those of servers that need not answer.
    private var (required, optional): (Set<Int>, Set<Int>)
    /// Until when the latter are waited for; nil for ever.
    private let deadline: ContinuousClock.Instant?
    /// Why DNS servers have said nothing.
    private var troubles: Set<String> = []
    private var tellers: [Entry: Set<Int>] = [:]

    init(_ session: Session, _ sources: [Source], for listing: DomainListing) {
        (self.session, self.sources) = (session, sources)
        list = ListRun(
            session, follows: listing.follows, timeout: listing.timeout,
            nothing: "this network recommends no domain, which is usual; .local needs no recommendation")
        resolvers = !listing.domain.named.isEmpty ? [] : session.servers?.resolvers ?? []
        optional = Set(sources.indices.filter { sources[$0].domain == nil })
        required = Set(sources.indices).subtracting(optional)
        deadline = optional.isEmpty || listing.follows ? nil : .now + Self.patience
    }

    mutating func run() async throws -> ExitStatus {
        let status = try await MergedEvents(sources.map(\.events)).first(unless: session.stop) { index, batch in
            for event in batch { if let status = try take(event, from: index) { return status } }
            return nil
        }
        if let status { return status }
        return try await end()
    }

    private mutating func take(_ event: DomainEvent, from index: Int) throws -> ExitStatus? {
        let source = sources[index]
        switch event {
        case .found(let domain):
            let entry = Entry(domain: domain, kind: source.kind)
            let isNew = tellers[entry] == nil
            tellers[entry, default: []].insert(index)
            if isNew { try list.found(entry.record, isOptional: source.domain == nil) { entry.write(to: &$0) } }
        case .lost(let domain):
            let entry = Entry(domain: domain, kind: source.kind)
            guard tellers[entry]?.remove(index) != nil, tellers[entry]?.isEmpty == true else { return nil }
            tellers[entry] = nil
            try list.lost(entry.record) { entry.write(to: &$0) }
        case .settled: return try settled(index)
        case .backend(let state):
            if let domain = source.domain {
                try list.observe(state, of: domain, stream: index)
            } else if let reason = state.reason {
                troubles.insert(reason)
                return try settled(index)
            }
        case .degraded(let reason): try list.degraded(reason)
        }
        return nil
    }

    /// A list is complete, or will not be.
    private mutating func settled(_ index: Int) throws -> ExitStatus? {
        guard required.remove(index) != nil || optional.remove(index) != nil, required.isEmpty else { return nil }
        guard optional.isEmpty else {
            if let deadline { session.stop.request(.timedOut, after: max(.zero, deadline - .now)) }
            return nil
        }
        try tellTroubles()
        return try list.settled()
    }

    /// The time is up, or a signal came.
    private mutating func end() async throws -> ExitStatus {
        guard !list.follows else { return try await list.status() }
        if session.stop.cause == .timedOut, required.isEmpty {
            try tellTroubles()
            if let status = try list.settled() { return status }
        }
        if session.stop.cause == .noBackend, list.hasFound, let reason = list.gate.reason {
            // DNS servers have recommended something, though nothing asks the link.
            try list.degraded(reason)
            return .done
        }
        return try await list.status()
    }

    /// Names the servers that were to be asked and have not answered.
    private func tellTroubles() throws {
        guard !resolvers.isEmpty else { return }
        let silence = "no answer from \(resolvers.joined(separator: " and "))"
        let reasons = troubles.isEmpty && !optional.isEmpty ? [silence] : troubles.sorted()
        for reason in reasons { try list.degraded("no DNS server recommends anything: \(reason)") }
    }
}
#endif
