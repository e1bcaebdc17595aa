#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import PeerIdentity

struct ForwardCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "forward",
        abstract: "Forwards a local TCP port to a service, which is found again for each connection.",
        discussion: """
            For programs that know only host and port. SIGTERM or Ctrl-C ends listening, and open connections after 4 s; a
            second one ends them at once.

            Examples:
              discoverd forward db 5432 _postgresql._tcp      psql -h localhost
              discoverd forward tony 0                        at a free port, which is printed
              discoverd forward web 0.0.0.0:8080 _http._tcp   for other machines, too
            """
    )

    @Argument(
        help: "The service's name, or its full name as tony._witap._tcp.local.", completion: DaemonCandidates.names)
    var name: String

    @Argument(
        help: ArgumentHelp(
            "The local port, 0 for a free one, on loopback; or an address and a port.", valueName: "[address:]port"))
    var port: String

    @Argument(
        help: "The type, where several services have the name.",
        completion: DaemonCandidates.types)
    var type: String?

    @OptionGroup var domain: DomainOption

    @Option(name: .long, help: .hidden, transform: Parsing.address)
    var bind: IPAddress?

    @Option(
        name: .long, help: ArgumentHelp("Connections at a time; further ones wait. Default: 64.", valueName: "n"),
        transform: Parsing.connections)
    var max: Int = 64

    @Option(
        name: .long,
        help: ArgumentHelp("Give up connecting to the service after this time; default: 10.", valueName: "seconds"),
        transform: Parsing.seconds)
    var timeout: Duration?

    @OptionGroup var security: TLSOptions

    @Flag(name: .long, help: Dialling.plain)
    var plain = false

    @OptionGroup var addresses: PolicyOptions
    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: CommonOptions
    @OptionGroup var output: OutputOptions

    private var dialling: Dialling { Dialling(security: security, plain: plain, addresses: addresses) }

    func needs() throws -> CommandNeeds {
        CommandNeeds(
            domains: try words().service.wish, types: try words().service.types,
            more: dialling.needsMore,
            ending: .init(isWhenUnread: false, grace: Serving.patience + .seconds(2)))
    }

    func validate() throws {
        try dialling.validate()
        let service = try words().service
        try service.require(for: "forward dials")
        try service.named()?.type.requireConnections(for: "forward")
    }

    func execute(in session: Session) async throws -> ExitStatus {
        let words = try words()
        if let hint = words.hint { session.notices.hint(hint) }
        let instance = try await words.service.instance(
            in: session, at: place, within: timeout ?? .seconds(5), onlyTCP: true)
        let interfaces = try place.interfaces()
        let family = place.family
        let loopback = [IPAddress.v4(IPv4Address(bits: 0x7F00_0001)), .v6(IPv6Address(high: 0, low: 1), scope: 0)]
        let address = bind ?? words.address
        let listeners = try ListeningSockets.local(address.map { [$0] } ?? loopback, port: words.port)
        let connector = Connector(
            network: session.network, dialer: SocketDialer(), policy: dialling.policy(of: instance, in: session),
            limits: RaceLimits(overall: timeout ?? .seconds(10)))
        let notices = PacedNotices(session.notices)
        let conversations = Conversations(try dialling.security.wish(), isPlain: dialling.plain, in: session)
        try tell(instance, listeners.port, address ?? loopback[0], in: session)
        let acceptor = try Acceptor(listeners, limit: max)
        try await Serving.run(acceptor) { client in
            let start = ContinuousClock.now
            let establishment = await connector.establish(.instance(instance), on: interfaces, over: family)
            switch establishment.result {
            case .success(let server):
                do throws(CommandError) {
                    let conversation = try await conversations.begin(
                        server, with: instance, establishment.report.service,
                        within: timeout.map { Swift.max(.zero, $0 - (ContinuousClock.now - start)) })
                    await SocketJoin.run(client, conversation.socket)
                    conversation.socket.close()
                    client.close()
                    if let failure = await conversation.failure { notices.notice(failure.message) }
                } catch {
                    notices.failure(error)
                    client.reset()
                }
            case .failure(let error):
                notices.notice("a connection was refused: \(error.message)")
                client.reset()
            }
        }
        return .done
    }

    /// What the words of the command line mean. A port before the name, as the version before had it, is understood where the other word is none.
    private func words() throws -> (service: SoughtService, address: IPAddress?, port: Port?, hint: String?) {
        var (port, address) = (self.port, IPAddress?.none)
        if let colon = port.lastIndex(of: ":"),
            let named = IPAddress(port[..<colon].trimmed { "[]".contains($0) }), Int(port[colon...].dropFirst()) != nil
        {
            (port, address) = (String(port[colon...].dropFirst()), named)
        }
        let isNumber = { (text: String) in Int(text) != nil }
        let isOld = isNumber(name) && !isNumber(port)
        if let type, isNumber(type) {
            let other = isNumber(port) ? "TYPE" : port.escapedForTerminal
            throw ValidationError(
                "NAME, PORT and TYPE stand in this order: 'discoverd forward \(name.escapedForTerminal) \(type) \(other)'."
            )
        }
        if !isOld, !isNumber(port) {
            throw ValidationError(
                "\(port.quotedForMessage) is no port: 'discoverd forward NAME PORT', with 0 for a free one.")
        }
        let sought = try type.map(Parsing.typeBeside)
        let service = SoughtService(name: isOld ? port : name, type: sought, place: domain)
        let hint: String? =
            if isOld {
                "NAME now stands before PORT: 'discoverd forward \(port) \(name)'; the old order goes with the next version"
            } else if isNumber(name) {
                "NAME stands before PORT: this looks for a service named \(name.quotedForMessage)"
            } else {
                nil
            }
        do {
            return (service, address, try Parsing.optionalPort(isOld ? name : port), hint)
        } catch let error as DiscoveryError {
            throw ValidationError(error.message)
        }
    }

    /// Prints where the service is forwarded. Keeps going if the reader is gone.
    private func tell(_ instance: ServiceInstance, _ port: Port, _ address: IPAddress, in session: Session) throws {
        let place = address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
        do {
            if session.json {
                try session.output.json { json in
                    json.line("forwarding") { object in
                        object.member("address", address.description)
                        object.member("port", Int(port.rawValue))
                        object.member("name", instance.name.text)
                        object.member("type", instance.type.description)
                        object.member("domain", instance.domain.text)
                    }
                }
            } else {
                try session.output.line("forwarding \(place) to \(instance)")
            }
            try session.output.flush()
        } catch is Output.Unread {
            session.notices.detail("nobody reads standard output any more")
        }
    }
}
#endif
