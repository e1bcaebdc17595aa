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
        abstract: "Blocks until services are there, or gone, prints them, exits.",
        discussion: """
            Examples:
              discoverd wait _witap._tcp && echo there
              discoverd wait _postgresql._tcp --count 3 --timeout 30 -r
              discoverd wait --name 'Front desk'            of whatever type
              discoverd wait _http._tcp --name web --gone
            """
    )

    @Argument(help: "The type, as for browse; what can be none is a name.", completion: DaemonCandidates.types)
    var type: String?

    @Option(
        name: .long, help: "A service of this name; without a TYPE, of any.", completion: DaemonCandidates.names,
        transform: Parsing.name)
    var name: ServiceName?

    @Flag(name: .long, help: "Wait until none is there; print nothing.")
    var gone = false

    @Option(
        name: .long,
        help: ArgumentHelp("How many services must be there at once; default: 1.", valueName: "n"),
        transform: Parsing.count
    )
    var count: Int = 1

    @Option(
        name: .long,
        help: ArgumentHelp("Give up after this time, with status 1; default: never.", valueName: "seconds"),
        transform: Parsing.seconds
    )
    var timeout: Duration?

    @Flag(name: .shortAndLong, help: "Wait until they are resolved; print host, port, TXT and addresses too.")
    var resolve = false

    @OptionGroup var domain: DomainsOption
    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: CommonOptions

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
        if gone && (resolve || count != 1) { throw ValidationError("--gone goes with neither --resolve nor --count.") }
        if let type, name == nil, (try? Parsing.type(type)) == nil, !type.hasPrefix("_") {
            try WordKind.requireService(type, for: "wait waits for")
            if WordKind(type) == .fullName, let service = try? ServiceInstance(fullName: type) {
                throw ValidationError(
                    "\(type.quotedForMessage) is a service's full name: "
                        + "'discoverd wait \(service.type) --name \(service.name.text.quotedForMessage)' waits for it.")
            }
        }
        do {
            _ = try wanted()
        } catch {
            throw ValidationError(String(describing: error))
        }
    }

    func execute(in session: Session) async throws -> ExitStatus {
        // The first service that is resolved ends it, and is shown with all its addresses; several are followed until all are there.
        let resolution: ServiceQuery.Resolution = resolve ? (count > 1 ? .watch : .once) : .none
        let interfaces = try place.interfaces()
        let wanted = try wanted()
        if let word = wanted.doubtful, let type = wanted.type {
            session.notices.notice(
                "waiting for the type \(type); for a service of that name: wait --name \(word.quotedForMessage)")
        }
        if let name = wanted.name?.text, name.contains(where: { $0 == "*" || $0 == "?" }) {
            session.notices.notice("waiting for the very name \(name.quotedForMessage); patterns go with browse --name")
        }
        let streams = domain.domains.map { domain in
            wanted.type.map {
                session.network.browse($0, in: domain, on: interfaces, over: place.family, resolution: resolution)
            } ?? session.network.browseAll(in: domain, on: interfaces, over: place.family, resolution: resolution)
        }
        let subject = Subject(
            types: wanted.type.map { [$0] } ?? [], domains: domain.domains, name: wanted.name?.text)
        if let timeout { session.stop.request(.timedOut, after: timeout) }
        var gate = BackendGate(session)
        // Bounded by `count`, when the command ends; with --gone, by what the streams tell as present.
        var present: [ServiceInstance: DiscoveredService] = [:]
        var unsettled = Set(streams.indices)
        do {
            let status = try await MergedEvents(streams).first { stream, batch -> ExitStatus? in
                for event in batch {
                    switch event {
                    case .found(let service), .changed(let service):
                        gate.answered()
                        guard wanted.name.map({ $0 == service.instance.name }) ?? true else { continue }
                        let counts = !resolve || service.state == .resolved
                        present[service.instance] = counts ? service : nil
                    case .lost(let service): present[service.instance] = nil
                    case .settled:
                        gate.answered()
                        unsettled.remove(stream)
                        if present.isEmpty, !gone { session.tellWaiting(for: subject) }
                    case .backend(let state): observe(state, of: subject.domain(stream), stream, &gate, in: session)
                    case .degraded(let reason): session.tellDegraded(reason)
                    }
                    if !gone, present.count >= count { return try show(present, wanted, in: session) }
                }
                return gone && unsettled.isEmpty && present.isEmpty ? .done : nil
            }
            if let status { return status }
        } catch is DiscoveryError where session.stop.cause != nil {
            // The stream ended because the command is ending.
        }
        return try await end(session, gate, present.count, unsettled.isEmpty, subject)
    }

    /// Standard output carries services only, in JSON too.
    private func observe(
        _ state: BackendState, of domain: Domain, _ stream: Int, _ gate: inout BackendGate, in session: Session
    ) {
        if case .lost(let reason) = state { return session.notices.notice("lost the backend: \(reason)") }
        gate.note(state, of: domain, stream: stream)
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

    private func end(
        _ session: Session, _ gate: BackendGate, _ found: Int, _ isListed: Bool, _ subject: Subject
    ) async throws -> ExitStatus {
        if case .signal = session.stop.cause { return .notFound }
        let status = try await session.status(found: false, backend: gate)
        guard status == .notFound, let timeout else { return status }
        let time = "\(timeout.inSeconds) s"
        let message =
            switch (gone, found) {
            case (false, _): "\(found) of \(count) were there after \(time)"
            case (true, 0) where !isListed: "it takes longer than \(time) to know that none is there"
            case (true, _): "\(found) still there after \(time)"
            }
        throw CommandError(.notFound, "\(message): \(subject.description)")
    }
}
#endif
