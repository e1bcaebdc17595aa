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
              discoverd browse _http._tcp -r -t              what is there now, with host, port, addresses and TXT
              discoverd browse _printer._sub._http._tcp      only a subtype
              discoverd browse --all --interface 'en*'       every type, on some interfaces
              discoverd browse --types -t                    which types there are
              discoverd browse _witap._tcp -r --json | jq    for programs
              discoverd browse _http._tcp --domain home.example.org --domain local
              discoverd browse _ipp._tcp _ipps._tcp -t --sort name --where 'txt.Color=T'
              discoverd browse _http._tcp --exec ./register  a program for each event
              discoverd browse --all -r --live               a table that stays in place: / filters, q ends
            """
    )

    @Argument(
        help: "A type, as _witap._tcp or _foo._udp, or a subtype, as _printer._sub._http._tcp. Several make one list.",
        completion: DaemonCandidates.types, transform: TypeWord.init)
    var type: [TypeWord] = []

    @Flag(name: .shortAndLong, help: "Every service of every type.")
    var all = false

    @Flag(name: .customLong("types"), help: "List the types present, in place of services.")
    var listsTypes = false

    @Flag(
        name: .customLong("domains"),
        help: "List the domains that are recommended (RFC 6763 §11).")
    var listsDomains = false

    @Option(name: .long, help: .hidden)
    var only: DomainListing.Kind?

    @Flag(name: .shortAndLong, help: "Print host, port, addresses and TXT too.")
    var resolve = false

    @Flag(
        name: [.customShort("t"), .long],
        help: "Print what is there within 5 s, or --timeout, and exit: 0 if anything was found, else 1.")
    var once = false

    @Option(
        name: .long,
        help: ArgumentHelp("Exit with 0 after this many services; with 1 if time runs out first.", valueName: "n"),
        transform: Parsing.count)
    var count: Int?

    @Option(
        name: .long, help: ArgumentHelp("End after this time; status 1 if nothing was found.", valueName: "seconds"),
        transform: Parsing.seconds)
    var timeout: Duration?

    @Flag(
        name: .long,
        help:
            "Show a table that stays in place, on a terminal. / filters, Enter shows details, s changes the order, q ends."
    )
    var live = false

    @Option(
        name: .long,
        help: "With -t: the order of the list. With --live: the first order.")
    var sort: ListOrder?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Run a program for each event, one after the other, without a shell. Its standard input is the JSON line.",
            valueName: "program"))
    var exec: String?

    @Flag(name: .long, help: "Begin each line with the time.")
    var timestamps = false

    @OptionGroup var filter: FilterOptions
    @OptionGroup var domain: DomainsOption
    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: CommonOptions
    @OptionGroup var output: OutputOptions

    func needs() throws -> CommandNeeds {
        let wish = listsDomains ? DomainListing.wish(domain) : domain.wish
        return CommandNeeds(
            domains: wish, interfaces: try place.interfaces(), types: types,
            more: listsTypes || listsDomains ? nil : CommandNeeds.hashes)
    }

    func validate() throws {
        if listsTypes || listsDomains { return try validateListing() }
        if only != nil { throw ValidationError("--only is for --domains.") }
        if type.isEmpty && !all { throw ValidationError("Missing TYPE: name a type, as '_witap._tcp', or say --all.") }
        if !type.isEmpty && all { throw ValidationError("a TYPE and --all exclude each other.") }
        if types.count * domain.domains.count > Self.limit {
            throw ValidationError("More than \(Self.limit) types, each in every domain.")
        }
        if sort != nil && !once && !live {
            throw ValidationError("--sort needs -t or --live: what comes later has no place in the order.")
        }
        if live && (once || count != nil || exec != nil || output.json != nil) {
            throw ValidationError("--live is for people: it excludes --once, --count, --exec and --json.")
        }
        if timestamps && (live || output.json != nil) {
            throw ValidationError("--timestamps is for lines: it excludes --live and --json.")
        }
    }

    /// Of types and domains nothing is known but that they are there.
    private func validateListing() throws {
        let option = listsTypes ? "--types" : "--domains"
        let ofServices = [
            ("--types and --domains", listsTypes && listsDomains), ("a TYPE and \(option)", !type.isEmpty),
            ("--all and \(option)", all), ("--resolve and \(option)", resolve), ("--live and \(option)", live),
            ("--count and \(option)", count != nil), ("--sort and \(option)", sort != nil),
            ("--exec and \(option)", exec != nil), ("--timestamps and \(option)", timestamps),
            ("--mine and \(option)", filter.mine), ("--others and \(option)", filter.others),
            ("--name and \(option)", !filter.name.isEmpty), ("--where and \(option)", !filter.where.isEmpty),
            ("--only and --types", listsTypes && only != nil),
        ]
        if let pair = ofServices.first(where: \.1) { throw ValidationError("\(pair.0) exclude each other.") }
    }

    /// Each is a question of its own.
    private static let limit = 128

    /// Each once, in the order of the command line.
    private var types: [ServiceType] { type.map(\.type).uniqued() }

    func execute(in session: Session) async throws -> ExitStatus {
        if listsTypes {
            let listing = TypeListing(follows: !once, timeout: timeout, domain: domain, place: place)
            return try await listing.run(in: session)
        }
        if listsDomains {
            let listing = DomainListing(only: only, follows: !once, timeout: timeout, domain: domain, place: place)
            return try await listing.run(in: session)
        }
        type.compactMap(\.hint).forEach(session.notices.hint)
        let query = try query()
        if let limit = timeout ?? (once ? .seconds(5) : nil) { session.stop.request(.timedOut, after: limit) }
        if live {
            let live = LiveBrowsing(
                session: session, query: query, detail: resolve ? .full : .identity, order: sort ?? .name)
            return try await live.run()
        }
        let program = try exec.map { try EventProgram($0, session.jsonVersion ?? .one, notices: session.notices) }
        let printer = ServicePrinter(
            session: session, detail: resolve ? .full : .identity, hasType: query.types.count != 1,
            hasDomain: query.domains != [.local], hasTimes: timestamps)
        var lines = ServiceLines(
            session: session, printer: printer, query: query,
            listing: once
                ? OnceListing(resolves: query.resolution != .none, links: try place.linkCount(), order: sort) : nil,
            count: count, program: program)
        var browsing = Browsing(query, in: session)
        let end = try await browsing.run(into: &lines)
        let status = try await end.status(found: lines.isEnough, in: session)
        if status == .notFound, lines.isEmpty {
            session.notices.notice(query.isNotFound(beside: end.others))
        }
        if once, end.status == nil, let reason = session.shortfall(status, end.gate.silentServer ?? end.gate.reason) {
            try lines.wasCutShort(reason)
        }
        return status
    }

    private func query() throws -> BrowseQuery {
        let filter = try filter.filter()
        // A program is given all of a service, whatever is printed.
        let resolves = resolve || exec != nil || filter.needsResolution
        return BrowseQuery(
            types: types, domains: domain.domains, interfaces: try place.interfaces(), family: place.family,
            resolution: resolves ? (once ? .once : .watch) : .none, filter: filter)
    }
}
#endif
