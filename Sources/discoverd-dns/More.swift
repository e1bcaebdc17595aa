#if Commands
internal import CommandFrame
internal import DNSMessage
internal import DNSSD
internal import DaemonSupport
internal import DiscoverdCommands
internal import DiscoveryDaemon
internal import DiscoverySystem
internal import DiscoveryTLS
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

    func check(_ domains: [Domain]) async -> [CheckResult] { await DomainCheck.run(domains) }

    func records(
        _ questions: [Question], of wish: DomainWish, _ notices: ProgramNotices
    ) async throws -> [ResourceRecord] {
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
#endif
