#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import PeerIdentity

struct ForwardCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "forward",
        abstract: "Forwards a local TCP port to a service, which is found anew for each connection.",
        discussion: """
            For programs that know host and port only. SIGTERM or Ctrl-C ends listening, lets connections go on for 4 s, and
            ends; a second one ends at once.

            Examples:
              discoverd forward 5432 db _postgresql._tcp      psql -h localhost
              discoverd forward 0 tony                        at a free port, which is printed
              discoverd forward 8080 web _http._tcp --bind 0.0.0.0
            """
    )

    @Argument(help: "The local port; 0 takes a free one.", transform: Parsing.optionalPort)
    var port: Port?

    @OptionGroup var service: InstanceArguments

    @Option(
        name: .long, help: ArgumentHelp("The local address; default: loopback only.", valueName: "address"),
        transform: Parsing.address)
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

    @OptionGroup var dialling: DialOptions
    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: CommonOptions

    func needs() -> CommandNeeds {
        CommandNeeds(
            domains: service.wish, types: service.sought,
            more: dialling.needsMore,
            ending: .init(isWhenUnread: false, grace: Serving.patience + .seconds(2)))
    }

    func validate() throws {
        try service.requireService(for: "forward dials")
        try service.named()?.type.requireConnections(for: "forward")
    }

    func execute(in session: Session) async throws -> ExitStatus {
        let instance = try await service.instance(
            in: session, at: place, within: timeout ?? .seconds(10), onlyTCP: true)
        let interfaces = try place.interfaces()
        let family = place.family
        let loopback = [IPAddress.v4(IPv4Address(bits: 0x7F00_0001)), .v6(IPv6Address(high: 0, low: 1), scope: 0)]
        let listeners = try ListeningSockets.local(bind.map { [$0] } ?? loopback, port: port)
        let connector = Connector(
            network: session.network, dialer: SocketDialer(), policy: dialling.policy(of: instance, in: session),
            limits: RaceLimits(overall: timeout ?? .seconds(10)))
        let notices = PacedNotices(session.notices)
        let conversations = Conversations(try dialling.security.wish(), isPlain: dialling.plain, in: session)
        try tell(instance, listeners.port, bind ?? loopback[0], in: session)
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
