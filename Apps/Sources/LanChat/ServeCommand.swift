import AppSupport
import AppTLS
import ArgumentParser
import CommandFrame
import DNSSD
import Discovery
import DiscoveryJSON
import DiscoveryNIO
import DiscoveryTLS
import Glibc
import LanChatCore
import NIOCore
import NIOPosix
import PeerIdentity

struct ServeCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Opens a room, in which one can speak, too, until Ctrl-C.",
        discussion: """
            Clients speak TLS, and those are let in whose keys are known (discoverd key list), or with --trust first anyone
            who comes under a new name: no access control. A nick belongs to the key that came with it first. With --plain
            the room is for nc and telnet: anyone can join, and anyone on the way can read along.

            Who joins is everyone's business: "NICK has joined". What cannot be shown safely is replaced before it is
            passed on. Lines of standard input are said, as join says them; at a terminal one joins at once, else with the
            first line, and its end changes nothing. A client that reads too slowly is dropped when 256 KiB wait for it. One that says too much, more
            than 32 lines a second for long, is read more slowly.
            """
    )

    @Option(
        name: .long, help: "The room's name; default: this machine's name.", transform: { try ServiceName($0) })
    var name: ServiceName?

    @Option(name: .long, help: "The port; default: 6222.", transform: Parsing.port)
    var port: Port?

    @Option(
        name: .long, help: ArgumentHelp("Clients at a time; default: 1024.", valueName: "n"), transform: Parsing.count)
    var maxClients: Int = 1024

    @Option(
        name: .long, help: ArgumentHelp("Clients of one host at a time; default: 64.", valueName: "n"),
        transform: Parsing.count)
    var maxPerHost: Int = 64

    @Flag(name: .long, help: "Lines without TLS, for nc and telnet: anyone can join, and read along.")
    var plain = false

    @OptionGroup var person: NickOption
    @OptionGroup var security: PeerOptions
    @OptionGroup var options: AppOptions

    func validate() throws { try security.validate(plain: plain) }

    func run(in app: App) async throws {
        let tls = plain ? nil : try security.tls(asks: false) { app.notices.notice($0) }
        raiseDescriptorLimit(to: maxClients + 64)
        // A slow reader may delay the log but not the room. Lines that do not fit are missing from the log only.
        let (log, said) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(4096))
        let (comings, came) = AsyncStream.makeStream(of: ChatArrival.self, bufferingPolicy: .bufferingNewest(64))
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let server = try await loop.submit { [maxClients, maxPerHost] in
            let server = ChatServer(
                maximumClients: maxClients, perHost: maxPerHost, key: tls?.identity.fingerprint
            ) {
                said.yield($0)
            } tell: {
                came.yield($0)
            }
            return NIOLoopBound(server, eventLoop: loop)
        }.get()
        let listener = try await listen(for: server, tls, group, try app.network())
        let screen = ChatScreen(app)
        ProcessEnd.before { screen.close() }
        await withTaskGroup { group in
            group.addTask { await tellNames(of: listener, on: screen, app) }
            group.addTask { await app.observe(listener.publication) }
            group.addTask { await tell(comings, on: screen, app) }
            group.addTask {
                // Only the end of a terminal's input means that the person left.
                if await speak(from: screen, in: server) || screen.isInteractive { said.finish() }
            }
            for await line in log { screen.show(ChatEvent(Array(line.utf8))) }
            group.cancelAll()
        }
        screen.close()
        await listener.close()
        if tls != nil { try? await loop.flatSubmit { server.value.close(on: loop) }.get() }
    }

    private func listen(
        for server: NIOLoopBound<ChatServer>, _ tls: PeerTLS?, _ group: any EventLoopGroup, _ network: LocalNetwork
    ) async throws -> PublishedListener {
        var txt = TXTRecord()
        if let tls { try KeyHint(tls.identity.fingerprint).add(to: &txt) }
        do {
            return try await network.listen(
                name ?? .ofThisMachine(), type: try ServiceType(LanChatCommand.type),
                port: try port ?? Port(LanChatCommand.port), txt: txt, on: options.interfaces, group: group
            ) { channel in
                guard let tls else {
                    return channel.eventLoop.makeCompletedFuture { try ChatConnection.configure(channel, server.value) }
                }
                return tls.secure(answering: channel, tellingPlain: Self.toPlain).flatMapThrowing {
                    try ChatConnection.configure(channel, server.value, PeerTLS.peer(of: channel))
                }
            }
        } catch let error as ServerSocket.Failure {
            let port = port.map(\.description) ?? String(LanChatCommand.port)
            throw CommandError(.systemError, "cannot listen on port \(port): \(failureText(error))")
        }
    }

    /// What who speaks no TLS is told.
    private static let toPlain = Array("* this room speaks TLS only: lanchat join without --plain\n".utf8)

    /// Reports who comes for the first time, and who is not let in, at a limited rate.
    private func tell(_ comings: AsyncStream<ChatArrival>, on screen: ChatScreen, _ app: App) async {
        var pace = LinePace(now: .now)
        for await coming in comings {
            guard let suppressed = pace.line(now: .now) else { continue }
            for line in coming.lines + (suppressed > 0 ? ["(and \(suppressed) more)"] : []) {
                if screen.isInteractive { screen.show("* \(line)") } else { app.notices.notice(line) }
            }
        }
    }

    /// Reports the room's published name whenever it changes.
    private func tellNames(of listener: PublishedListener, on screen: ChatScreen, _ app: App) async {
        var told: ServiceName?
        for await status in listener.publication.updates {
            guard status.state == .established, told != status.name else { continue }
            told = status.name
            let service = listener.publication.service
            if screen.isInteractive {
                screen.show("published \(status.name).\(service.type).\(service.domain.text) port \(service.port)")
            } else {
                app.tellPublished(listener.publication, as: status.name)
            }
        }
    }

    /// Sends what the person at the server says.
    /// - Returns: whether the person closes the room; false if the input ended.
    private func speak(from screen: ChatScreen, in server: NIOLoopBound<ChatServer>) async -> Bool {
        let own = Array("iam:\(person.own)".utf8)
        if screen.isInteractive { server.execute { $0.received(.line(own), from: ChatServer.person) } }
        while let lines = await screen.lines() {
            for line in lines {
                switch Said(line) {
                case .request(let request):
                    server.execute { server in
                        if !request.hasPrefix("iam:"), !server.hasJoined(ChatServer.person) {
                            server.received(.line(own), from: ChatServer.person)
                        }
                        server.received(.line(Array(request.utf8)), from: ChatServer.person)
                    }
                case .nothing: continue
                case .leave: return true
                case .unknown: screen.show(Said.help)
                }
            }
        }
        return false
    }

    /// Each client needs a descriptor.
    private func raiseDescriptorLimit(to wanted: Int) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < wanted else {
            return
        }
        limit.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

extension ChatEvent {
    /// Writes a line of JSON.
    func write(to output: Output) {
        switch self {
        case .joined(let nick): output.json("joined") { $0.member("nick", nick) }
        case .left(let nick): output.json("left") { $0.member("nick", nick) }
        case .renamed(let was, let nick):
            output.json("renamed") {
                $0.member("nick", nick)
                $0.member("was", was)
            }
        case .notice(let text): output.json("notice") { $0.member("text", text) }
        case .message(let nick, let text):
            output.json("message") {
                $0.member("nick", nick)
                $0.member("text", text)
            }
        }
    }
}
