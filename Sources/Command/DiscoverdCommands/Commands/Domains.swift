#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON

struct DomainsCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "domains",
        abstract: "Lists the domains that are recommended for browsing and for registering (RFC 6763 §11).",
        discussion: """
            By the link and, where DNS servers answer, by the search domains and networks of this host.

            Examples:
              discoverd domains                            both kinds, then exit
              discoverd domains --only registration        one kind
              discoverd domains --domain home.example.org  what this domain recommends
            """
    )

    @Option(name: .long, help: "Only one kind: browsing or registration.")
    var only: Kind?

    @OptionGroup var listing: ListingOptions
    @OptionGroup var domain: DomainsOption
    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: CommonOptions

    func needs() throws -> CommandNeeds {
        var wish = domain.wish
        wish.isOptional = domain.named.isEmpty
        return CommandNeeds(domains: wish, interfaces: try place.interfaces())
    }

    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case browsing, registration

        var purpose: DomainQuery.Purpose { self == .browsing ? .browsing : .registration }
    }

    /// One question.
    private struct Source {
        let kind: Kind
        /// The domain that is asked; nil for the DNS servers of this host's search domains and networks, which need not answer.
        let domain: Domain?
        let events: DomainEvents
    }

    func execute(in session: Session) async throws -> ExitStatus {
        let sources = try sources(session)
        var run = ListRun(
            session, follows: listing.follow, timeout: listing.timeout,
            nothing: "this network recommends no domain; that is usual, and .local is there without")
        var list = RecommendedDomains(optional: Set(sources.indices.filter { sources[$0].domain == nil }))
        list.required = Set(sources.indices).subtracting(list.optional)
        if !list.optional.isEmpty, !listing.follow { list.patience = ContinuousClock.now + RecommendedDomains.patience }
        let status = try await MergedEvents(sources.map(\.events)).first(unless: session.stop) { index, batch in
            for event in batch {
                if let status = try handle(event, of: index, sources, &list, &run, session) { return status }
            }
            return nil
        }
        if let status { return status }
        return try await end(list, &run, session)
    }

    private func sources(_ session: Session) throws -> [Source] {
        let interfaces = try place.interfaces()
        let servers = domain.named.isEmpty ? session.servers.map { LocalNetwork(engine: $0.engine) } : nil
        return (only.map { [$0] } ?? Kind.allCases).flatMap { kind in
            var sources = domain.domains.map { domain in
                let query = DomainQuery(kind.purpose, of: [domain], interfaces: interfaces)
                return Source(kind: kind, domain: domain, events: session.network.domains(query))
            }
            if let servers {
                sources.append(Source(kind: kind, domain: nil, events: servers.domains(DomainQuery(kind.purpose))))
            }
            return sources
        }
    }

    private func handle(
        _ event: DomainEvent, of index: Int, _ sources: [Source], _ list: inout RecommendedDomains,
        _ run: inout ListRun,
        _ session: Session
    ) throws -> ExitStatus? {
        let source = sources[index]
        switch event {
        case .found(let domain):
            guard list.found(domain, source.kind, by: index) else { return nil }
            try run.found(record(domain, source.kind), isOptional: source.domain == nil) {
                members(&$0, domain, source.kind)
            }
        case .lost(let domain):
            guard list.lost(domain, source.kind, by: index) else { return nil }
            try run.lost(record(domain, source.kind)) { members(&$0, domain, source.kind) }
        case .settled: return try settled(index, &list, &run, session)
        case .backend(let state):
            if let domain = source.domain {
                try run.observe(state, of: domain, stream: index)
            } else if let reason = state.reason {
                list.troubles.insert(reason)
                return try settled(index, &list, &run, session)
            }
        case .degraded(let reason): try run.degraded(reason)
        }
        return nil
    }

    private func settled(
        _ index: Int, _ list: inout RecommendedDomains, _ run: inout ListRun, _ session: Session
    ) throws -> ExitStatus? {
        switch list.settled(index) {
        case .nothing: return nil
        case .complete:
            try tellTroubles(list, run, session)
            return try run.settled()
        case .waitsForServers:
            if let patience = list.patience { session.stop.request(.timedOut, after: max(.zero, patience - .now)) }
            return nil
        }
    }

    /// The time is up, or a signal came.
    private func end(_ list: RecommendedDomains, _ run: inout ListRun, _ session: Session) async throws -> ExitStatus {
        guard !listing.follow else { return try await run.status() }
        if session.stop.cause == .timedOut, list.required.isEmpty {
            try tellTroubles(list, run, session)
            if let status = try run.settled() { return status }
        }
        if session.stop.cause == .noBackend, run.hasFound, let reason = run.gate.reason {
            // DNS servers have recommended something, though nothing asks the link.
            try run.degraded(reason)
            return .done
        }
        return try await run.status()
    }

    /// Names the servers that were to be asked and have not answered.
    private func tellTroubles(_ list: RecommendedDomains, _ run: ListRun, _ session: Session) throws {
        guard domain.named.isEmpty, let resolvers = session.servers?.resolvers, !resolvers.isEmpty else { return }
        for trouble in list.troubles.sorted() { try run.degraded("no DNS server recommends anything: \(trouble)") }
        if list.troubles.isEmpty, !list.optional.isEmpty {
            try run.degraded(
                "no DNS server recommends anything: no answer from \(resolvers.joined(separator: " and "))")
        }
    }

    private func record(_ domain: Domain, _ kind: Kind) -> Record {
        Record(.init(safe: domain, 24), .init(kind.rawValue, 0))
    }

    private func members(_ json: inout JSONWriter, _ domain: Domain, _ kind: Kind) {
        json.member("domain", domain.text)
        json.member("purpose", kind.rawValue)
    }
}

/// The answers to several questions for domains. A value.
private struct RecommendedDomains {
    /// How long DNS servers may take that nobody named, though the link's list is complete.
    static let patience = Duration.seconds(1)

    private struct Entry: Hashable {
        let domain: Domain
        let kind: DomainsCommand.Kind
    }

    enum Progress {
        case nothing
        /// Everything is reported except the answers of DNS servers that need not answer.
        case waitsForServers
        case complete
    }

    /// Questions whose lists are not complete.
    var required: Set<Int> = []
    var optional: Set<Int>
    /// Until when DNS servers are waited for; nil for ever.
    var patience: ContinuousClock.Instant?
    /// Why DNS servers have said nothing.
    var troubles: Set<String> = []
    private var tellers: [Entry: Set<Int>] = [:]

    init(optional: Set<Int>) { self.optional = optional }

    /// - Returns: whether it is news.
    mutating func found(_ domain: Domain, _ kind: DomainsCommand.Kind, by index: Int) -> Bool {
        let entry = Entry(domain: domain, kind: kind)
        let isNew = tellers[entry, default: []].isEmpty
        tellers[entry, default: []].insert(index)
        return isNew
    }

    /// - Returns: whether it is the last word.
    mutating func lost(_ domain: Domain, _ kind: DomainsCommand.Kind, by index: Int) -> Bool {
        let entry = Entry(domain: domain, kind: kind)
        guard tellers[entry]?.remove(index) != nil, tellers[entry]?.isEmpty == true else { return false }
        tellers[entry] = nil
        return true
    }

    /// A list is complete, or will not be.
    mutating func settled(_ index: Int) -> Progress {
        guard required.remove(index) != nil || optional.remove(index) != nil, required.isEmpty else { return .nothing }
        return optional.isEmpty ? .complete : .waitsForServers
    }
}
#endif
