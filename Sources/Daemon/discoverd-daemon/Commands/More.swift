#if Commands
internal import CommandFrame
internal import DNSMessage
internal import DNSSD
internal import DiscoverdCommands
internal import DiscoveryDaemon
internal import DiscoverySystem
internal import DiscoveryTLS
internal import Libc
internal import PeerIdentity
internal import UnicastEngine

/// What this program adds to the commands.
struct More: MoreSupport {
    /// Read once: what was announced is what is shown.
    let kept = Locked<MachineIdentity?>(nil)
    let made = Locked<Made?>(nil)

    func engine(for wish: DomainWish, _ notices: ProgramNotices) throws -> DNSEngine {
        let definitions = try ConfiguredDomains.definitions(for: wish, notices)
        let settings = try ConfiguredDomains.settings(for: wish, definitions, notices)
        let resolver = ResolverFile().settings
        return DNSEngine(
            UnicastEngine(domains: settings), configured: Set(definitions.map(\.settings.domain)),
            resolvers: resolver.namesServers ? resolver.servers.map(\.description) : [])
    }

    func check(_ domains: [Domain]) async -> [DoctorFinding] { await DomainCheck.run(domains) }

    func records(
        _ questions: [Question], of wish: DomainWish, _ notices: ProgramNotices
    ) async throws -> ServerAnswers {
        try await DomainLookup(wish, notices).records(questions)
    }

    /// On a server of its own, with the parts of the daemon's.
    func serve(
        _ source: PageSource, at port: UInt16, _ serving: @escaping @Sendable (String) async -> Void
    ) async throws {
        let socket: Int32
        do {
            let loopback = IPAddress.v4(IPv4Address(bits: 0x7F00_0001))
            socket = try Sockets.listening(at: SocketAddress(loopback, port: port), backlog: 16)
        } catch {
            throw CommandError(.systemError, "cannot listen at 127.0.0.1 port \(port): \(error)")
        }
        let page = PageServer(
            PageServer.Source(
                network: source.network, finder: source.finder, version: DiscoverdVersion.current,
                daemon: source.daemon, doctor: DoctorRun.lines))
        let url = "http://127.0.0.1:\(SocketAddress(of: socket)?.port ?? port)/#\(page.token)"
        do {
            try await page.run(socket) { await serving(url) }
        } catch {
            throw CommandError(.systemError, "the page cannot be served: \(error)")
        }
    }
}

/// TLS, with this user's identity and known peers.
extension More {
    var hmac: HashedName.HMAC { HashedName.hmac }

    func secure(
        _ socket: Int32, as role: TLSRole, _ wish: TLSWish, _ notices: ProgramNotices
    ) async throws(CommandError) -> SecuredConnection {
        let tls: PeerTLS
        let directory: IdentityDirectory
        do throws(CommandError) {
            directory = try self.directory()
            let asks = wish.asks && TerminalQuestion.isPossible
            if let ready = made.withLock({ $0?.tls(for: wish, asks: asks) }) {
                tls = ready
            } else {
                tls = try peerTLS(wish, in: directory, asks: asks, notices)
                made.withLock { $0 = Made(wish: wish, asks: asks, tls: tls) }
            }
        } catch {
            close(socket)
            throw error
        }
        do throws(SecuredSocket.Failure) {
            let (link, peer) = try await SecuredSocket.secure(socket, role, tls)
            await LastKeys.note(peer, in: directory.path)
            return link
        } catch {
            if let peer = (error.cause as? PeerRefusal)?.shown { await LastKeys.note(peer, in: directory.path) }
            throw CommandError(ofTLS: error.cause, to: role == .answering ? nil : tls.identity)
        }
    }

    func identity() throws(CommandError) -> OwnKey {
        let directory = try directory()
        let identity = try identity(in: directory)
        return OwnKey(fingerprint: identity.fingerprint, label: identity.label, path: directory.identityPath)
    }

    func pairing(
        _ role: PairingExchange.Role, with key: KeyFingerprint
    ) throws(CommandError) -> PairingExchange {
        let identity = try identity(in: directory())
        do throws(PairingExchange.Failure) {
            return try PairingExchange(role, own: identity.fingerprint, peer: key, digest: PairingExchange.sha256)
        } catch {
            throw CommandError(.notPermitted, "no pairing: \(error)")
        }
    }

    /// What serves one connection after another: a flood of them must not cost two contexts of TLS each.
    struct Made: Sendable {
        let wish: TLSWish
        let asks: Bool
        let tls: PeerTLS

        /// Certificate authorities are read anew for each: their files may have changed.
        func tls(for wish: TLSWish, asks: Bool) -> PeerTLS? {
            if case .authority = wish.trust { return nil }
            return self.wish == wish && self.asks == asks ? tls : nil
        }
    }

    /// The callers that a person has refused, until the program ends.
    private static let declined = Locked<Set<KeyFingerprint>>([])
    private static let mostDeclined = 1000

    private func peerTLS(
        _ wish: TLSWish, in directory: IdentityDirectory, asks: Bool, _ notices: ProgramNotices
    ) throws(CommandError) -> PeerTLS {
        let identity = try identity(in: directory)
        var ask: (@Sendable (PeerTLS.Question) async -> Bool)?
        if asks {
            ask = { question in
                guard !Self.declined.withLock({ $0.contains(question.key) }) else { return false }
                let answer = await TerminalQuestion.ask(question.text, answers: ["yes", "no"])
                // A refused caller that calls again is not asked about again.
                if answer == "no", case .label = question.name {
                    Self.declined.withLock { if $0.count < Self.mostDeclined { $0.insert(question.key) } }
                }
                return answer == "yes"
            }
        }
        do {
            var tls = try PeerTLS(identity: identity, known: directory.known, trust: wish.trust, ask: ask)
            if let limit = wish.limit { tls.patience = limit }
            tls.vouched = { name, voucher in notices.notice(voucher.notice(of: name)) }
            return tls
        } catch let failure as PeerAuthority.Failure {
            throw CommandError(
                .badConfiguration, "the certificate authority: \(failure.description.escapedForTerminal)")
        } catch {
            throw CommandError(.badConfiguration, "this machine's key cannot be used: \("\(error)".escapedForTerminal)")
        }
    }

    private func directory() throws(CommandError) -> IdentityDirectory {
        do throws(MachineIdentity.Failure) {
            return try IdentityDirectory()
        } catch {
            throw CommandError(.badConfiguration, error.description)
        }
    }

    private func identity(in directory: IdentityDirectory) throws(CommandError) -> MachineIdentity {
        if let identity = kept.withLock({ $0 }) { return identity }
        let identity = try Self.read(in: directory)
        return kept.withLock { kept in
            kept = kept ?? identity
            return kept ?? identity
        }
    }

    private static func read(in directory: IdentityDirectory) throws(CommandError) -> MachineIdentity {
        do throws(MachineIdentity.Failure) {
            return try directory.identity()
        } catch {
            throw CommandError(.badConfiguration, "this machine's key: \(error.description.escapedForTerminal)")
        }
    }
}

/// The domains of the daemon's configuration, for commands that do without the daemon.
enum ConfiguredDomains {
    private static let place = ConfigurationPlace.system

    /// Those of the configuration; none, with a notice, where it cannot be read.
    static func definitions(_ notices: ProgramNotices) -> [DomainDefinition] {
        do throws(ConfigurationError) {
            return try place.load().domains
        } catch {
            notices.detail("the daemon's configuration is not used: \(error.summary)")
            return []
        }
    }

    /// Those of the configuration, for a command.
    /// - Throws: `.misconfigured` where it cannot be read, and a key of it would be needed.
    static func definitions(
        for wish: DomainWish, _ notices: ProgramNotices
    ) throws(DiscoveryError) -> [DomainDefinition] {
        guard wish.publishes, wish.keyFile == nil, let domain = wish.others.first else { return definitions(notices) }
        do throws(ConfigurationError) {
            return try place.load().domains
        } catch {
            throw DiscoveryError(
                .misconfigured, "the configuration, which has the key for \(domain), cannot be read: \(error.summary)")
        }
    }

    /// The settings for a command: what is configured, and over it what the command line says.
    /// - Throws: `.misconfigured` for a key of a domain that the command publishes in.
    static func settings(
        for wish: DomainWish, _ definitions: [DomainDefinition], _ notices: ProgramNotices
    ) throws(DiscoveryError) -> [DomainSettings] {
        var settings: [DomainSettings] = []
        for definition in definitions {
            var one = definition.settings
            let isPublished = wish.publishes && wish.others.contains { $0.isWithin(one.domain) }
            if isPublished, wish.keyFile == nil { one = try definition.withKey() }
            settings.append(one)
        }
        guard wish.isSpecial else { return settings }
        let server = try wish.server.map { text throws(DiscoveryError) in try ServerName(text) }
        let key = try wish.keyFile.map { path throws(DiscoveryError) in try TSIGKey(file: path) }
        for domain in wish.others {
            var one = settings.covering(domain) ?? DomainSettings(domain)
            one.domain = domain
            if let server { one.server = server }
            if let key { one.key = key }
            settings.removeAll { $0.domain == domain }
            settings.append(one)
        }
        return settings
    }
}
#endif
