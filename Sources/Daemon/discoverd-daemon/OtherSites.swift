#if Commands
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryDaemon
internal import DiscoverySystem
internal import DiscoveryTLS
internal import Libc
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import PeerIdentity

/// How soon the system finds out that a connection's other end is gone, which a firewall in between may not say.
enum Keepalive {
    static let idle = NIOBSDSocket.Option(rawValue: TCP_KEEPIDLE)
    static let seconds = 20

    /// For a listening socket, from which those that are accepted have it.
    static func set(_ socket: Int32) {
        Sockets.set(SO_KEEPALIVE, of: socket, to: 1)
        Sockets.set(TCP_KEEPIDLE, of: socket, level: CInt(IPPROTO_TCP), to: CInt(seconds))
    }
}

/// What connects to daemons of other sites, and lets them in: this daemon's key and theirs.
struct OtherSites: Sendable {
    private let identity: MachineIdentity
    private let directory: IdentityDirectory
    private let keys: [String: KeyFingerprint]
    private let log: DaemonLog

    /// This daemon's key.
    var key: KeyFingerprint { identity.fingerprint }

    /// Nil where no site is configured: then there is no key, no thread and no context of TLS.
    /// - Throws: `Failure` with status 78 where this daemon has no key that it can use, 74 where there is no room for one now.
    init?(_ configuration: DaemonConfiguration, _ state: StateDirectory, _ log: DaemonLog) throws {
        guard !configuration.peers.isEmpty else { return nil }
        // A thread for connections and one for what waits: few bytes go here, and a machine may have a hundred cores.
        NIOSingletons.groupLoopCountSuggestion = 1
        NIOSingletons.blockingPoolThreadCountSuggestion = 1
        guard let path = state.path else {
            throw Failure(status: 78, message: "peers: no place for this daemon's key: \(state.reason ?? "")")
        }
        (directory, keys, self.log) = (IdentityDirectory(path: path), configuration.peers, log)
        do throws(MachineIdentity.Failure) {
            identity = try directory.identity()
        } catch {
            throw Failure(
                status: error.isPassing ? Failure.passing : 78,
                message: "peers: this daemon's key: \(error.description)")
        }
        log.notice("other sites know this daemon by its key \(identity.fingerprint)")
    }

    /// TLS with these peers alone.
    fileprivate func tls(with names: [String]) -> PeerTLS? {
        let trust = PeerTrust.pinned(Set(names.compactMap { keys[$0] }))
        do {
            var tls = try PeerTLS(identity: identity, known: directory.known, trust: trust)
            tls.patience = .seconds(10)
            return tls
        } catch {
            log.error("this daemon's key cannot be used: \(error)")
            return nil
        }
    }

    fileprivate func name(of key: KeyFingerprint) -> String? { keys.first { $0.value == key }?.key }

    /// What follows another site.
    func gateway(_ rule: ExportRule, of peer: MirrorPeer, into target: any ExportTarget) -> Gateway? {
        guard let tls = tls(with: [peer.name]) else { return nil }
        let site = CalledSite(peer, tls, log)
        let network = LocalNetwork(engine: RemoteEngine(site.place))
        return Gateway(rule, into: target, log: log) {
            site.state
        } events: {
            network.follow($0)
        }
    }

    /// What tells other sites; nil where nothing is to be told.
    func teller(_ rule: ExportRule?, of network: LocalNetwork) -> SiteTeller? {
        guard let rule, case .peers(let listen) = rule.destination, let tls = tls(with: listen.peers) else {
            return nil
        }
        return SiteTeller(rule, listen, tls, self, log, network)
    }
}

/// Another site that is called.
private final class CalledSite: Sendable {
    private let peer: MirrorPeer
    private let tls: PeerTLS
    private let log: DaemonLog
    private let current = Locked(Current())

    private struct Current {
        var state = SiteState(trouble: "it was not reached yet")
        /// What the log says of it: why nothing comes, or that something does; nothing yet where there is neither.
        var told: String??
        var notices = Notices(interval: .seconds(60))

        /// - Returns: whether the log has to say so.
        mutating func became(_ trouble: String?, at now: Duration) -> Bool {
            state.trouble = trouble
            guard told != .some(trouble), trouble.map({ notices.shouldTell($0, now: now) }) ?? true else {
                return false
            }
            told = trouble
            return true
        }
    }

    init(_ peer: MirrorPeer, _ tls: PeerTLS, _ log: DaemonLog) { (self.peer, self.tls, self.log) = (peer, tls, log) }

    var state: SiteState { current.withLock { $0.state } }

    var place: ControlPlace {
        ControlPlace(peer: peer.name) {
            self.became($0)
        } connect: {
            self.connect()
        }
    }

    /// Says each reason once a minute at most, however often it is tried.
    private func became(_ trouble: String?) {
        let trouble = trouble.map { String($0.prefix(300)).escapedOnce }
        guard current.withLock({ $0.became(trouble, at: SystemTime().now) }) else { return }
        if let trouble {
            log.warning("services of \(peer.name) are not followed, and this is tried again: \(trouble)")
        } else {
            log.notice("services of \(peer.name) are followed")
        }
    }

    private func connect() -> Result<UnixConnection, DiscoveryError> {
        let reason = Locked<String?>(nil)
        let own = tls.identity.fingerprint
        do {
            let descriptor = try SecuredSocket.connecting(
                to: peer.host, Int(peer.port.rawValue), calling: .label(peer.name), tls
            ) { [self] address in
                let address = address?.ipAddress.flatMap { IPAddress($0) }
                current.withLock { $0.state.address = address ?? $0.state.address }
            } failed: { error in
                reason.withLock { $0 = $0 ?? Self.text(error, own) }
            }
            return .success(try UnixConnection(connected: descriptor) { reason.withLock { $0 } })
        } catch {
            return .failure(error as? DiscoveryError ?? DiscoveryError(.backendUnavailable, "\(error)"))
        }
    }

    /// Why there is no connection, for people.
    private static func text(_ error: any Error, _ own: KeyFingerprint) -> String {
        switch error {
        case PeerRefusal.refusedByPeer: "it does not let this daemon in, whose key is \(own)"
        case let refusal as PeerRefusal: refusal.description
        case let error as IOError: SystemError(error.errnoCode).description
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { text($0.error, own) } ?? "no address of \(error.host) is known"
        case ChannelError.connectTimeout: "it does not answer"
        default: "the connection was lost"
        }
    }
}

/// Tells other sites services, where they connect.
final class SiteTeller: Sendable {
    /// How long it waits before it listens again, where the address is not this machine's yet, as a VPN's.
    private static let pause = Duration.seconds(5)

    let gateway: Gateway
    private let list: PeerList
    private let listen: MirrorListen
    private let tls: PeerTLS
    private let sites: OtherSites
    private let log: DaemonLog
    private let refusals = Locked(Notices(interval: .seconds(60)))

    fileprivate init(
        _ rule: ExportRule, _ listen: MirrorListen, _ tls: PeerTLS, _ sites: OtherSites, _ log: DaemonLog,
        _ network: LocalNetwork
    ) {
        (self.listen, self.tls, self.sites, self.log) = (listen, tls, sites, log)
        list = PeerList()
        gateway = Gateway(rule, into: list, log: log) { network.follow($0) }
    }

    /// Listens until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            do {
                let socket = try Sockets.listening(
                    at: DiscoveryPOSIX.SocketAddress(listen.address, port: listen.port.rawValue), backlog: 64)
                Keepalive.set(socket)
                let listener = ControlServer.Listener(descriptor: socket, isReadOnly: true) { self.admit($0) }
                let server = ControlServer(limits: Self.limits, metrics: MetricsRegistry(), log: log) { [list] in
                    list.respond($0)
                }
                try await server.run([listener]) { became(nil) }
            } catch {
                became("\(error)")
            }
            guard (try? await Task.sleep(for: Self.pause)) != nil else { return }
        }
    }

    /// Few sites follow it, each with a connection and a ping now and then.
    private static var limits: ConnectionTable.Limits {
        var limits = ConnectionTable.Limits()
        (limits.clients, limits.perUser) = (64, 16)
        return limits
    }

    private func became(_ trouble: String?) {
        guard list.hindrance.exchange(trouble) != trouble else { return }
        if let trouble {
            log.warning("other sites are not told services at \(listen), and this is tried again: \(trouble)")
        } else {
            log.notice("other sites are told services at \(listen)")
        }
    }

    /// Judges a caller's key.
    private func admit(_ channel: any Channel) -> EventLoopFuture<Void> {
        let address = channel.remoteAddress?.ipAddress ?? "?"
        let peer = tls.secure(answering: channel).flatMap { PeerTLS.peer(of: channel) }
        peer.whenFailure { [refusals, log] error in
            // Strangers choose how often.
            let text = (error as? PeerRefusal)?.description ?? "\(error)"
            guard refusals.withLock({ $0.shouldTell("\(address) \(text)", now: SystemTime().now) }) else { return }
            log.notice("a caller from \(address) is told no services: \(text)")
        }
        return peer.map { [callers = list.callers, sites] peer in
            guard let name = sites.name(of: peer.key) else { return }
            callers.withLock { $0.append(name) }
            channel.closeFuture.whenComplete { _ in
                callers.withLock { names in if let index = names.firstIndex(of: name) { names.remove(at: index) } }
            }
        }
    }
}
#endif
