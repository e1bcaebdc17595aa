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
        abstract:
            "Shows one service, with host, port, TXT and addresses; or the addresses of hosts.",
        discussion: """
            Several hosts and addresses are looked up at once. Each line has what you asked for, the address or name, and the interface. The status is 1 \
            when one of them was not found. The links know addresses and names below local; DNS servers are asked about other names.

            Examples:
              discoverd resolve tony                       of _witap._tcp, or the only one of that name
              discoverd resolve "Tony's Printer" _ipp._tcp
              discoverd resolve tony._witap._tcp.local     by its full name
              discoverd resolve printer.local              a host: its addresses
              discoverd resolve 192.168.1.20 fe80::1%eth0  addresses: their hosts
              discoverd resolve --host nas.example.org     a host of another domain
              discoverd resolve tony --json | jq -r '.endpoints[0].address'
            """
    )

    @Argument(
        help: "A service's name, or its full name as tony._witap._tcp.local; or a host or an address.",
        completion: DaemonCandidates.names)
    var name: String

    @Argument(
        help: ArgumentHelp(
            "The service's type, if several have the name. Or further hosts.",
            valueName: "type|host"),
        completion: DaemonCandidates.types)
    var rest: [String] = []

    @Flag(name: .long, help: "The words are hosts and addresses, also hosts of other domains and without a dot.")
    var host = false

    @OptionGroup var time: LookupTime
    @OptionGroup var domain: DomainOption
    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: CommonOptions
    @OptionGroup var output: OutputOptions

    /// What the words mean.
    private enum Sought {
        case service(SoughtService)
        case hosts([HostArgument])
    }

    /// Each takes two questions.
    private static let mostHosts = 128

    /// Hosts are asked for on the links, whether a daemon runs or not.
    func needs() throws -> CommandNeeds {
        switch try sought() {
        case .hosts(let hosts):
            CommandNeeds(
                daemon: .never, domains: DomainWish(asking: hosts.map(\.question), server: nil),
                interfaces: try place.interfaces(), more: CommandNeeds.servers(for: hosts.map(\.question), nil),
                ending: .init(status: .notFound))
        case .service(let service):
            CommandNeeds(
                domains: service.wish, interfaces: try place.interfaces(), types: service.types,
                more: CommandNeeds.hashes, ending: .init(status: .notFound))
        }
    }

    private func sought() throws -> Sought {
        let words = [name] + rest
        let areHosts = words.allSatisfy { [.host, .address].contains(WordKind($0)) }
        if host || domain.domain == .local && areHosts {
            for word in words where host {
                if case .type = WordKind(word) { try WordKind.requireService(word, for: "resolve shows") }
                if WordKind(word) == .fullName {
                    throw ValidationError("\(word.quotedForMessage) is a service, and with --host the words are hosts.")
                }
            }
            if words.count > Self.mostHosts { throw ValidationError("More than \(Self.mostHosts) hosts at a time.") }
            return .hosts(try words.map(HostArgument.init))
        }
        if rest.count > 1 {
            throw ValidationError("A service is NAME [TYPE]; only hosts and addresses can be several.")
        }
        return .service(SoughtService(name: name, type: try rest.first.map(Parsing.typeBeside), place: domain))
    }

    func validate() throws {
        try Parsing.validate {
            if case .service(let service) = try sought() { try service.require(for: "resolve shows") }
        }
    }

    func execute(in session: Session) async throws -> ExitStatus {
        switch try sought() {
        case .hosts(let hosts):
            let interfaces = LocalInterface.all() ?? []
            var asked: [HostArgument] = []
            for host in hosts {
                guard let name = host.missingInterface(among: interfaces) else {
                    asked.append(host)
                    continue
                }
                let reason = "no interface of this machine is called \(name.quotedForMessage)"
                try session.tell(CommandError(.notFound, "\(host.text.escapedForTerminal): \(reason)"))
            }
            guard !asked.isEmpty else { return .notFound }
            let isFound = try await HostLookup(session, place, within: time.timeout).show(asked)
            return isFound && asked.count == hosts.count ? .done : .notFound
        case .service(let service): return try await show(service, in: session)
        }
    }

    private func show(_ service: SoughtService, in session: Session) async throws -> ExitStatus {
        let timeout = time.timeout
        let start = ContinuousClock.now
        let instance = try await service.instance(in: session, at: place, within: timeout)
        let left = max(.milliseconds(500), timeout - (ContinuousClock.now - start))
        let interfaces = try place.interfaces()
        do {
            let found = try await session.network.resolve(instance, on: interfaces, over: place.family, within: left)
            try show(found, in: session)
            return .done
        } catch let error as DiscoveryError {
            guard error.code == .notFound || error.code == .timedOut else { throw error }
            throw CommandError(
                .notFound, error.message, advice: [instance.domain.listingAdvice(instance.type)])
        }
    }

    private func show(_ service: DiscoveredService, in session: Session) throws {
        let key = KeyStates(session.more?.hmac).state(of: service.instance)
        guard session.json else { return try ServiceCard(service, key: key).show(in: session) }
        try session.output.json(.service) { json in
            json.service(service, detail: .full, keyState: key?.rawValue)
            json.endLine()
        }
    }
}
#endif
