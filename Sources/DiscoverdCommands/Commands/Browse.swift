#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON

struct BrowseCommand: NetworkCommand {
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
              discoverd browse ipp ipps -t --sort name --where 'txt.Color=T'
              discoverd browse http --exec ./register        a program for each event
              discoverd browse --all -r --live               a table that stays in place: / filters, q ends
            """
    )

    @Argument(
        help:
            "A type: _witap._tcp, _foo._udp, witap, or a subtype as _printer._sub._http._tcp. Several are shown together.",
        completion: DaemonCandidates.types, transform: Parsing.soughtType
    )
    var type: [ServiceType] = []

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

    @Flag(
        name: .long,
        help:
            "Show a table that stays in place, on a terminal: / filters, Enter shows details, s changes the order, q ends."
    )
    var live = false

    @Option(
        name: .long,
        help: "With -t: print the whole list in the order of its names, types or hosts. With --live: the first order."
    )
    var sort: ListOrder?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Run a program for each event, one after the other, without a shell: the JSON line is its standard input, and DISCOVERD_EVENT, DISCOVERD_NAME, DISCOVERD_TYPE say what happened.",
            valueName: "program"))
    var exec: String?

    @OptionGroup var filter: FilterOptions
    @OptionGroup var domain: DomainsOption
    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: CommonOptions

    func needs() throws -> CommandNeeds {
        CommandNeeds(
            domains: domain.wish, interfaces: try place.interfaces(), types: types, more: CommandNeeds.hashes)
    }

    func validate() throws {
        if type.isEmpty && !all { throw ValidationError("Missing TYPE: name a type, as '_witap._tcp', or say --all.") }
        if !type.isEmpty && all { throw ValidationError("A TYPE and --all exclude each other.") }
        if types.count * domain.domains.count > Self.limit {
            throw ValidationError("More than \(Self.limit) types, each in every domain.")
        }
        if sort != nil && !once && !live {
            throw ValidationError("--sort needs -t or --live: what comes later has no place in the order.")
        }
        if live && (once || count != nil || exec != nil || common.json) {
            throw ValidationError("--live is for people: it excludes --once, --count, --exec and --json.")
        }
    }

    /// Each is a question of its own.
    private static let limit = 128

    /// Each once, in the order of the command line.
    private var types: [ServiceType] {
        var known: Set<ServiceType> = []
        return type.filter { known.insert($0).inserted }
    }

    func execute(in session: Session) async throws -> ExitStatus {
        let wanted = try filter.filter()
        if live { return try await showLive(wanted, in: session) }
        let program = try exec.map { try EventProgram($0, notices: session.notices) }
        let printer = ServicePrinter(
            session: session, detail: resolve ? .full : .identity, hasType: all || types.count > 1,
            hasDomain: domain.domains != [.local])
        let subject = subject(wanted)
        if once, count == nil, sort == nil, program == nil, wanted.isEmpty, !printer.addsKeys,
            let query = try listing(),
            let status = try await WarmListing(session: session, printer: printer, subject: subject, query: query).run()
        {
            return status
        }
        var browsing = Browsing(
            session: session,
            printer: printer,
            subject: subject,
            filter: wanted,
            listing: once
                ? OnceListing(resolves: resolves(wanted), links: try place.linkCount(), order: sort)
                : nil,
            count: count,
            program: program
        )
        if let limit = timeout ?? (once ? .seconds(5) : nil) { session.stop.request(.timedOut, after: limit) }
        let resolution: ServiceQuery.Resolution = resolves(wanted) ? (once ? .once : .watch) : .none
        return try await browsing.run(streams(resolution, session.network))
    }

    private func showLive(_ wanted: ServiceFilter, in session: Session) async throws -> ExitStatus {
        if let timeout { session.stop.request(.timedOut, after: timeout) }
        let browsing = LiveBrowsing(
            session: session, subject: subject(wanted), detail: resolve ? .full : .identity, order: sort ?? .name,
            filter: wanted)
        let (network, interfaces, family) = (session.network, try place.interfaces(), place.family)
        return try await browsing.run(
            streams(resolves(wanted) ? .watch : .none, session.network)
        ) { instance in
            try await network.resolve(instance, on: interfaces, over: family, within: .seconds(5))
        }
    }

    /// A program is told all of a service, whatever is printed.
    private func resolves(_ wanted: ServiceFilter) -> Bool { resolve || exec != nil || wanted.needsResolution }

    private func subject(_ wanted: ServiceFilter) -> Subject {
        Subject(types: types, domains: domain.domains, isFiltered: !wanted.isEmpty)
    }

    /// A stream for each domain, type after type.
    private func streams(
        _ resolution: ServiceQuery.Resolution, _ network: LocalNetwork
    ) throws -> [ServiceEvents] {
        let kinds: [ServiceType?] = all ? [nil] : types
        return try kinds.flatMap { type in
            try domain.domains.map { try events(of: type, in: $0, resolution, network) }
        }
    }

    /// The query that a daemon may answer from memory; nil for every type, which always has to ask the network.
    private func listing() throws -> QueryString? {
        guard types.count == 1, let type = types.first, domain.domains.count == 1, let domain = domain.domains.first
        else { return nil }
        return ServiceQuery(
            .type(type, domain),
            interfaces: try place.interfaces(),
            family: place.family,
            resolution: resolve ? .once : .none
        ).queryString
    }

    private func events(
        of type: ServiceType?, in domain: Domain, _ resolution: ServiceQuery.Resolution, _ network: LocalNetwork
    ) throws -> ServiceEvents {
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
