#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import PeerIdentity
internal import DiscoverySystem

struct ConnectCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Connects to a service by its name; joins standard input and output to it.",
        discussion: """
            Every address of the service is dialled as RFC 8305 says; the first that answers is used. Addresses that are
            not reached over the interface on which the service was seen are refused, unless --allow names them.

            Examples:
              discoverd connect tony                        as nc, but by name
              printf hello | discoverd connect tony
              discoverd connect files < big > copy
              discoverd connect tony --probe --report       does it answer, and at which address
            """
    )

    @OptionGroup var service: ServiceArguments
    @OptionGroup var domain: DomainOption

    @Flag(name: .long, help: "Connect, close, and exit: 0 when it answered.")
    var probe = false

    @Flag(
        name: .long,
        help: "Print what was tried to standard error, as JSON with --json (with --probe on standard output).")
    var report = false

    @Option(
        name: .long, help: ArgumentHelp("Give up connecting after this time; default: 10.", valueName: "seconds"),
        transform: Parsing.seconds)
    var timeout: Duration?

    @OptionGroup var security: TLSOptions

    @Flag(name: .long, help: Dialling.plain)
    var plain = false

    @OptionGroup var addresses: PolicyOptions
    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: CommonOptions
    @OptionGroup var output: OutputOptions

    private var sought: SoughtService { SoughtService(name: service.name, type: service.type, place: domain) }
    private var dialling: Dialling { Dialling(security: security, plain: plain, addresses: addresses) }

    /// A command that only sends has no need of a reader.
    func needs() -> CommandNeeds {
        CommandNeeds(
            domains: sought.wish, types: sought.types,
            more: dialling.needsMore,
            ending: .init(status: .notFound, isWhenUnread: false), isConnection: !probe)
    }

    func validate() throws {
        try dialling.validate()
        try sought.require(for: "connect dials")
        try sought.named()?.type.requireConnections(for: "connect")
    }

    func execute(in session: Session) async throws -> ExitStatus {
        // What its files say is wrong whether the service is found or not.
        let conversations = Conversations(
            try dialling.security.wish(), isPlain: dialling.plain || probe, in: session)
        let instance = try await sought.instance(
            in: session, at: place, within: timeout ?? .seconds(5), onlyTCP: true)
        let start = ContinuousClock.now
        let connector = Connector(
            network: session.network, dialer: SocketDialer(), policy: dialling.policy(of: instance, in: session),
            limits: RaceLimits(overall: timeout ?? .seconds(10)), patience: timeout ?? .seconds(5))
        let establishment = await connector.establish(
            .instance(instance), on: try place.interfaces(), over: place.family)
        switch establishment.result {
        case .success(let socket):
            let conversation: Conversation
            do throws(CommandError) {
                // Connecting and the handshake have one deadline.
                conversation = try await conversations.begin(
                    socket, with: instance, establishment.report.service,
                    within: timeout.map { max(.zero, $0 - (ContinuousClock.now - start)) })
                if probe { try await conversation.end() }
            } catch {
                let code: DiscoveryError.Code = error.status == .notPermitted ? .notPermitted : .unreachable
                try show(establishment.report, DiscoveryError(code, error.message), in: session)
                throw error
            }
            defer { conversation.socket.close() }
            try show(establishment.report, nil, in: session)
            if !probe { try await conversation.joinStandard() }
            return .done
        case .failure(let error):
            try show(establishment.report, error, in: session)
            if session.daemon != nil { await Self.tellDaemon(session.network) }
            throw Self.failure(error, establishment.report, instance)
        }
    }

    /// Prints what was asked for: how it ended, a handshake included.
    private func show(_ establishment: EstablishmentReport, _ error: DiscoveryError?, in session: Session) throws {
        let shown = EstablishmentPrinter(session: session, report: establishment)
        // With `--probe`, standard output already carries the report as JSON.
        if report, !(probe && session.json) { shown.showOnStandardError(error) }
        if probe { try shown.show(error) }
    }

    /// Lets the network tell the daemon of a service that could not be reached. A daemon that does not answer holds
    /// nothing up.
    private static func tellDaemon(_ network: LocalNetwork) async {
        let isTold = Gate()
        Task {
            await network.shutdown()
            isTold.open()
        }
        await isTold.wait(atMost: .milliseconds(300))
    }

    private static func failure(
        _ error: DiscoveryError,
        _ report: EstablishmentReport,
        _ instance: ServiceInstance
    ) -> CommandError {
        var failure = CommandError(error)
        switch error.code {
        case .notFound: failure.advice = [instance.domain.listingAdvice(instance.type)]
        case .notPermitted:
            if let address = report.attempts.first(where: \.canBeAllowed)?.endpoint.address {
                failure.advice = ["--allow \(address) permits that address, if it is meant."]
            }
        default: break
        }
        return failure
    }
}
#endif
