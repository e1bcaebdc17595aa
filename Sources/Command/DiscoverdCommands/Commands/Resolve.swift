#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import PeerIdentity

struct ResolveCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Shows one service: host, port, TXT and every address it can be dialled at.",
        discussion: """
            Examples:
              discoverd resolve tony                       of _witap._tcp, or the only one of that name
              discoverd resolve "Tony's Printer" _ipp._tcp
              discoverd resolve tony._witap._tcp.local     by its full name
              discoverd resolve printer.local              a host: its addresses
              discoverd resolve tony --json | jq -r '.endpoints[0].address'
            """
    )

    @OptionGroup var service: InstanceArguments

    @Option(
        name: .long, help: ArgumentHelp("Give up after this time; default: 5.", valueName: "seconds"),
        transform: Parsing.seconds)
    var timeout: Duration = .seconds(5)

    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: CommonOptions

    func needs() throws -> CommandNeeds {
        CommandNeeds(
            domains: service.wish, interfaces: try place.interfaces(), types: service.sought,
            more: CommandNeeds.hashes, ending: .init(status: .notFound))
    }

    func validate() throws { try service.requireService(for: "resolve shows", takesHosts: true) }

    func execute(in session: Session) async throws -> ExitStatus {
        if let host = service.hostName {
            let lookup = HostLookup(session, place, within: timeout)
            return try await lookup.show([host]) ? .done : .notFound
        }
        let start = ContinuousClock.now
        let instance = try await service.instance(in: session, at: place, within: timeout)
        let left = max(.milliseconds(500), timeout - (ContinuousClock.now - start))
        let interfaces = try place.interfaces()
        do {
            let found = try await session.network.resolve(instance, on: interfaces, over: place.family, within: left)
            try show(found, in: session)
            return .done
        } catch let error as DiscoveryError {
            if error.code == .notFound || error.code == .timedOut { throw Self.notFound(instance, after: timeout) }
            throw error
        }
    }

    private static func notFound(_ instance: ServiceInstance, after limit: Duration) -> CommandError {
        CommandError(
            .notFound,
            "no service \"\(instance.name)\" of type \(instance.type) in \(instance.domain) answered within "
                + "\(limit.inSeconds) s", advice: [instance.domain.listingAdvice(instance.type)])
    }

    private func show(_ service: DiscoveredService, in session: Session) throws {
        let key = KeyStates(session.more?.hmac).state(of: service.instance)
        guard session.json else { return try ServiceCard(service, key: key).show(in: session) }
        try session.output.json { json in
            json.service(service, detail: .full, keyState: key?.rawValue)
            json.endLine()
        }
    }
}
#endif
