#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import Discovery
internal import DiscoveryJSON

struct WaitCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Waits until services are there, or gone, and prints them.",
        discussion: """
            Examples:
              discoverd wait _witap._tcp && echo there
              discoverd wait _postgresql._tcp --count 3 --timeout 30 -r
              discoverd wait --name 'Front desk'            of whatever type
              discoverd wait _http._tcp --name web --count 0    until it is gone
            """
    )

    @Argument(help: "The type, as for browse; a word that cannot be one is a name.", completion: DaemonCandidates.types)
    var type: String?

    @Option(
        name: .long, help: "A service of this name; without a TYPE, of any.", completion: DaemonCandidates.names,
        transform: Parsing.name)
    var name: ServiceName?

    @Flag(name: .customLong("gone"), help: .hidden)
    var isGone = false

    @Option(
        name: .long,
        help: ArgumentHelp("How many services must be there at once; 0: none; default: 1.", valueName: "n"),
        transform: { $0 == "0" ? 0 : try Parsing.count($0) })
    var count: Int = 1

    private var gone: Bool { isGone || count == 0 }

    @Option(
        name: .long,
        help: ArgumentHelp("Give up after this time, with status 1; default: never.", valueName: "seconds"),
        transform: Parsing.seconds)
    var timeout: Duration?

    @Flag(name: .shortAndLong, help: "Wait until they are resolved; print host, port, TXT and addresses too.")
    var resolve = false

    @OptionGroup var domain: DomainsOption
    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: CommonOptions
    @OptionGroup var output: OutputOptions

    func needs() throws -> CommandNeeds {
        CommandNeeds(
            domains: domain.wish, interfaces: try place.interfaces(), types: try wanted().type.map { [$0] } ?? [],
            more: CommandNeeds.hashes, ending: .init(status: .notFound))
    }

    /// What the words of the command line mean.
    struct Wanted {
        var type: ServiceType?
        var name: ServiceName?
        /// A word that might have been meant as the name.
        var doubtful: String?
    }

    func wanted() throws -> Wanted {
        guard let text = type else { return Wanted(name: name) }
        do {
            // Any word may be a name; what begins with an underscore is a type.
            let type = try text.hasPrefix("_") ? Parsing.soughtType(text) : Parsing.type(text)
            return Wanted(type: type, name: name, doubtful: name == nil && !text.hasPrefix("_") ? text : nil)
        } catch {
            guard name == nil, !text.hasPrefix("_") else { throw error }
            return Wanted(name: try Parsing.name(text))
        }
    }

    func validate() throws {
        if type == nil && name == nil {
            throw ValidationError("Missing TYPE: name a type, as '_witap._tcp', or say --name.")
        }
        if isGone && count != 1 { throw ValidationError("--gone and --count exclude each other.") }
        if gone && resolve { throw ValidationError("--count 0 prints nothing: it excludes --resolve.") }
        if let type, name == nil, (try? Parsing.type(type)) == nil, !type.hasPrefix("_") {
            try WordKind.requireService(type, for: "wait waits for")
            if WordKind(type) == .fullName, let service = try? ServiceInstance(fullName: type) {
                throw ValidationError(
                    "\(type.quotedForMessage) is a service's full name: "
                        + "'discoverd wait \(service.type) --name \(service.name.text.quotedForMessage)' waits for it.")
            }
        }
        try Parsing.validate { _ = try wanted() }
    }

    func execute(in session: Session) async throws -> ExitStatus {
        let wanted = try wanted()
        if let word = wanted.doubtful, let type = wanted.type {
            session.notices.notice(
                "waiting for the type \(type); for a service of that name: wait --name \(word.quotedForMessage)")
        }
        if let name = wanted.name?.text, name.contains(where: { $0 == "*" || $0 == "?" }) {
            session.notices.notice("waiting for the very name \(name.quotedForMessage); patterns go with browse --name")
        }
        // The first service that is resolved ends it, and is shown with all its addresses; several are followed until all are there.
        let query = BrowseQuery(
            types: wanted.type.map { [$0] } ?? [], domains: domain.domains, interfaces: try place.interfaces(),
            family: place.family, resolution: resolve ? (count > 1 ? .watch : .once) : .none,
            filter: wanted.name.map(ServiceFilter.init(exactly:)) ?? .everything)
        if let timeout { session.stop.request(.timedOut, after: timeout) }
        var presence = Presence(
            session: session, query: query, count: gone ? nil : count, wantsResolved: resolve)
        var browsing = Browsing(query, in: session)
        let end = try await browsing.run(into: &presence)
        guard end.status == nil else { return try show(presence.services, wanted, in: session) }
        if case .signal = session.stop.cause { return .notFound }
        let status = try await end.status(found: false, in: session)
        guard status == .notFound, let timeout else { return status }
        let (found, time) = (presence.services.count, "\(timeout.inSeconds) s")
        if !gone, count == 1 { throw CommandError(.notFound, "no \(query.description) was there within \(time)") }
        let message =
            switch (gone, found) {
            case (false, _): "\(found) of \(count) were there after \(time)"
            case (true, 0) where !presence.isListed: "it takes longer than \(time) to know that none is there"
            case (true, _): "\(found) still there after \(time)"
            }
        throw CommandError(.notFound, "\(message): \(query.description)")
    }

    private func show(
        _ present: [ServiceInstance: DiscoveredService],
        _ wanted: Wanted,
        in session: Session
    ) throws -> ExitStatus {
        let printer = ServicePrinter(
            session: session, detail: resolve ? .full : .identity, tellsEvents: false, hasType: wanted.type == nil,
            hasDomain: domain.domains != [.local])
        for service in present.values.sorted(by: { $0.instance.name < $1.instance.name }) {
            try printer.show(service)
        }
        return .done
    }
}

/// The sink of `wait`: what is there. Standard output carries services only, in JSON too.
private struct Presence: ServiceSink {
    let session: Session
    let query: BrowseQuery
    /// How many end it; nil: that none is there does.
    let count: Int?
    let wantsResolved: Bool
    /// Bounded by `count`, when the command ends; without one, by what the streams report as present.
    private(set) var services: [ServiceInstance: DiscoveredService] = [:]
    /// The list is complete.
    private(set) var isListed = false
    /// Why a first list was cut short.
    private var missing: String?

    init(session: Session, query: BrowseQuery, count: Int?, wantsResolved: Bool) {
        (self.session, self.query, self.count, self.wantsResolved) = (session, query, count, wantsResolved)
    }

    mutating func take(_ events: [ServiceEvent]) throws -> ExitStatus? {
        for event in events {
            switch event {
            case .found(let service), .changed(let service):
                services[service.instance] = !wantsResolved || service.state == .resolved ? service : nil
            case .lost(let service): services[service.instance] = nil
            case .settled:
                isListed = true
                if services.isEmpty, count != nil { session.tellWaiting(for: query) }
            case .backend(.lost(let reason)): session.notices.notice("nothing finds now: \(reason)")
            case .backend: break
            case .degraded(let reason) where count == nil && !isListed: missing = reason
            case .degraded(let reason): session.notices.degraded(reason)
            }
            if let count, services.count >= count { return .done }
        }
        guard count == nil, isListed, services.isEmpty else { return nil }
        if let missing {
            throw CommandError(.notFound, "it is not known that none is there: \(missing): \(query.description)")
        }
        return .done
    }

    func end() {}
}
#endif
