#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryJSON

struct WaitCommand: PlacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Blocks until services are there, prints them, exits.",
        discussion: """
            Examples:
              discoverd wait _witap._tcp && echo there
              discoverd wait _postgresql._tcp --count 3 --timeout 30 -r
            """
    )

    @Argument(help: "The type, as for browse.", transform: Parsing.type)
    var type: ServiceType

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

    var wish: DomainWish { domain.wish }

    static var statusWhenStopped: ExitStatus { .notFound }

    func execute(in session: Session) async throws -> ExitStatus {
        // The first service that is resolved ends it, and is shown with all its addresses; several are followed until all are there.
        let resolution: ServiceQuery.Resolution = resolve ? (count > 1 ? .watch : .once) : .none
        let interfaces = try place.interfaces()
        let streams = domain.domains.map { domain in
            session.network.browse(
                type, in: domain, on: interfaces, over: place.family, resolution: resolution)
        }
        let subject = Subject(type: type, domains: domain.domains)
        if let timeout { session.stop.request(.timedOut, after: timeout) }
        var gate = BackendGate(session)
        // Bounded by `count`: the command ends when it is reached.
        var present: [ServiceInstance: DiscoveredService] = [:]
        do {
            let status = try await MergedEvents(streams).first { stream, batch -> ExitStatus? in
                for event in batch {
                    switch event {
                    case .found(let service), .changed(let service):
                        gate.answered()
                        let counts = !resolve || service.state == .resolved
                        present[service.instance] = counts ? service : nil
                    case .lost(let service): present[service.instance] = nil
                    case .settled:
                        gate.answered()
                        if present.isEmpty { session.tellWaiting(for: subject) }
                    case .backend(let state): observe(state, of: subject.domain(stream), stream, &gate, in: session)
                    case .degraded(let reason): session.tellDegraded(reason)
                    }
                    if present.count >= count { return try show(present, in: session) }
                }
                return nil
            }
            if let status { return status }
        } catch is DiscoveryError where session.stop.cause != nil {
            // The stream ended because the command is ending.
        }
        return try await end(session, gate, found: present.count)
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
        in session: Session
    ) throws -> ExitStatus {
        let printer = ServicePrinter(
            session: session, detail: resolve ? .full : .identity, tellsEvents: false, hasType: false,
            hasDomain: domain.domains != [.local])
        for service in present.values.sorted(by: { $0.instance.name < $1.instance.name }) {
            try printer.show(service)
        }
        return .done
    }

    private func end(_ session: Session, _ gate: BackendGate, found: Int) async throws -> ExitStatus {
        if case .signal = session.stop.cause { return .notFound }
        let status = try await session.status(found: false, backend: gate)
        guard status == .notFound, let timeout else { return status }
        throw CommandError(
            .notFound,
            "\(found) of \(count) services of type \(type) were there after \(timeout.inSeconds) s"
        )
    }
}
#endif
