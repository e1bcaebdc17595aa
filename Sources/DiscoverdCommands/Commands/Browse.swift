#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON

struct BrowseCommand: PlacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse",
        abstract: "Lists services of a type and follows changes.",
        discussion: """
            Each line begins with what happened: + added, ~ updated, - removed.

            Examples:
              discoverd browse _witap._tcp                   until Ctrl-C
              discoverd browse http -r -t                    what is there now, with host, port, addresses and TXT
              discoverd browse _printer._sub._http._tcp      only a subtype
              discoverd browse --all --interface 'en*'       every type, on some interfaces
              discoverd browse _witap._tcp -r --json | jq    for programs
              discoverd browse http --domain home.example.org --domain local
            """
    )

    @Argument(
        help: "The type: _witap._tcp, _foo._udp, witap, or a subtype as _printer._sub._http._tcp.",
        transform: Parsing.type
    )
    var type: ServiceType?

    @Flag(name: .shortAndLong, help: "Every service of every type.")
    var all = false

    @Flag(name: .shortAndLong, help: "Print host, port, addresses and TXT too.")
    var resolve = false

    @Flag(
        name: [.customShort("t"), .long],
        help: "Print what is there and exit: 0 if anything was found, else 1. Takes 5 s at most, or --timeout."
    )
    var once = false

    @Option(
        name: .long,
        help: ArgumentHelp("Exit with 0 after this many services; with 1 if time is over before.", valueName: "n"),
        transform: Parsing.count
    )
    var count: Int?

    @Option(
        name: .long,
        help: ArgumentHelp("End after this time; status 1 if nothing was found.", valueName: "seconds"),
        transform: Parsing.seconds
    )
    var timeout: Duration?

    @OptionGroup var domain: DomainsOption
    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: CommonOptions

    var wish: DomainWish { domain.wish }

    func validate() throws {
        if type == nil && !all { throw ValidationError("Missing TYPE: name a type, as '_witap._tcp', or say --all.") }
        if type != nil && all { throw ValidationError("A TYPE and --all exclude each other.") }
    }

    func execute(in session: Session) async throws -> ExitStatus {
        let printer = ServicePrinter(
            session: session, detail: resolve ? .full : .identity, hasType: all, hasDomain: domain.domains != [.local])
        let subject = Subject(type: type, domains: domain.domains)
        if once, count == nil, let query = try listing(),
            let status = try await WarmListing(session: session, printer: printer, subject: subject, query: query).run()
        {
            return status
        }
        var browsing = Browsing(
            session: session,
            printer: printer,
            subject: subject,
            listing: once ? OnceListing(resolves: resolve, links: try place.linkCount()) : nil,
            count: count
        )
        if let limit = timeout ?? (once ? .seconds(5) : nil) { session.stop.request(.timedOut, after: limit) }
        return try await browsing.run(domain.domains.map { try events(in: $0, of: session.network) })
    }

    /// The query that a daemon may answer from memory; nil for every type, which always has to ask the network.
    private func listing() throws -> QueryString? {
        guard let type, domain.domains.count == 1, let domain = domain.domains.first else { return nil }
        return ServiceQuery(
            .type(type, domain),
            interfaces: try place.interfaces(),
            family: place.family,
            resolution: resolve ? .once : .none
        ).queryString
    }

    private func events(in domain: Domain, of network: LocalNetwork) throws -> ServiceEvents {
        let resolution: ServiceQuery.Resolution = resolve ? (once ? .once : .watch) : .none
        let interfaces = try place.interfaces()
        guard let type else {
            return network.browseAll(
                in: domain,
                on: interfaces,
                over: place.family,
                resolution: resolution
            )
        }
        return network.browse(
            type,
            in: domain,
            on: interfaces,
            over: place.family,
            resolution: resolution
        )
    }
}
#endif
