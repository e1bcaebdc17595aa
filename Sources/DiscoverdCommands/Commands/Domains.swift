#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryJSON

struct DomainsCommand: PlacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "domains",
        abstract: "Lists the domains that are recommended for browsing and for registering (RFC 6763 §11).",
        discussion: """
            Examples:
              discoverd domains                      both kinds, then exit
              discoverd domains --only registration  one kind
            """
    )

    @Option(name: .long, help: "Only one kind: browsing or registration.")
    var only: Kind?

    @OptionGroup var listing: ListingOptions
    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: CommonOptions

    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case browsing, registration

        var purpose: DomainQuery.Purpose { self == .browsing ? .browsing : .registration }
    }

    func execute(in session: Session) async throws -> ExitStatus {
        let kinds = only.map { [$0] } ?? Kind.allCases
        let interfaces = try place.interfaces()
        var run = Listing(
            session, follows: listing.follow, timeout: listing.timeout,
            nothing: "this network recommends no domain; that is usual, and .local is there without")
        var settled: Set<Kind> = []
        do {
            for try await (kind, event) in Self.events(kinds, on: interfaces, of: session.network) {
                switch event {
                case .found(let domain): try run.found(record(domain, kind)) { members(&$0, domain, kind) }
                case .lost(let domain): try run.lost(record(domain, kind)) { members(&$0, domain, kind) }
                case .settled:
                    guard settled.insert(kind).inserted, settled.count == kinds.count else { continue }
                    if let status = try run.settled() { return status }
                case .backend(let state): if kind == kinds.first { try run.observe(state) }
                case .degraded(let reason): try run.degraded(reason)
                }
            }
        } catch is DiscoveryError where session.stop.cause != nil {
            // The stream ended because the command is ending.
        }
        return try await run.status()
    }

    /// Merges the answers to several questions into one stream. The buffer needs no limit: a network has only a handful of domains.
    private static func events(
        _ kinds: [Kind],
        on interfaces: InterfaceFilter,
        of network: LocalNetwork
    ) -> AsyncThrowingStream<(Kind, DomainEvent), any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1024)) { continuation in
            let task = Task {
                do {
                    try await withThrowingTaskGroup { group in
                        for kind in kinds {
                            let events = network.domains(DomainQuery(kind.purpose, interfaces: interfaces))
                            group.addTask { for try await event in events { continuation.yield((kind, event)) } }
                        }
                        try await group.waitForAll()
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func record(_ domain: Domain, _ kind: Kind) -> Record {
        var record = Record()
        record.add(safe: domain, width: 24)
        record.add(kind.rawValue, width: 0)
        return record
    }

    private func members(_ json: inout JSONWriter, _ domain: Domain, _ kind: Kind) {
        json.member("domain", domain.name)
        json.member("purpose", kind.rawValue)
    }
}
#endif
