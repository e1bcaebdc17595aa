import AppSupport
import ArgumentParser
import DNSSD
import Discovery
import DiscoveryJSON
import DiscoveryNIO
import Glibc
import LanChatCore
import NIOCore
import NIOPosix

struct ServeCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Opens a room, and shows what is said, until Ctrl-C.",
        discussion: """
            Who joins is everyone's business: "NICK has joined". What cannot be shown safely is replaced before it is
            passed on. A client that reads too slowly is dropped when 256 KiB wait for it; one that says too much, more
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

    @OptionGroup var options: AppOptions

    func run(in app: App) async throws {
        raiseDescriptorLimit(to: maxClients + 64)
        // The log may wait for who reads it; the room must not. What does not fit is left out of the log only.
        let (log, said) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(4096))
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let server = try await loop.submit { [maxClients] in
            NIOLoopBound(ChatServer(maximumClients: maxClients) { said.yield($0) }, eventLoop: loop)
        }.get()
        let listener: PublishedListener
        do {
            listener = try await app.network().listen(
                try name ?? .thisMachine(), type: try ServiceType(LanChatCommand.type),
                port: try port ?? Port(LanChatCommand.port), on: options.interfaces, group: group
            ) { channel in
                channel.eventLoop.makeCompletedFuture { try ChatConnection.configure(channel, server.value) }
            }
        } catch let error as ServerSocket.Failure {
            let port = port.map(\.description) ?? String(LanChatCommand.port)
            throw AppError(.systemError, "cannot listen on port \(port): \(failureText(error))")
        }
        await withTaskGroup { group in
            group.addTask { await tellNames(of: listener, app) }
            group.addTask { await app.observe(listener.publication) }
            for await line in log { show(line, app) }
            group.cancelAll()
        }
        await listener.close()
    }

    /// The name under which the room is published, whenever it changes.
    private func tellNames(of listener: PublishedListener, _ app: App) async {
        var told: ServiceName?
        for await status in listener.publication.updates {
            guard status.state == .established, told != status.name else { continue }
            told = status.name
            app.tellPublished(listener.publication, as: status.name)
        }
    }

    private func show(_ line: String, _ app: App) {
        if app.json { ChatEvent(Array(line.utf8)).write(to: app.output) } else { app.output.line(line) }
    }

    /// A descriptor for each client.
    private func raiseDescriptorLimit(to wanted: Int) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < wanted else {
            return
        }
        limit.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

extension ServiceName {
    /// This machine's name, without its domain.
    static func thisMachine() throws -> ServiceName {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, 255) == 0 else { return try ServiceName("chat") }
        let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let label = String(name.prefix { $0 != "." })
        return try (try? ServiceName(label)) ?? ServiceName("chat")
    }
}

extension ChatEvent {
    /// One line of JSON.
    func write(to output: Output) {
        switch self {
        case .joined(let nick): output.json("joined") { $0.member("nick", nick) }
        case .left(let nick): output.json("left") { $0.member("nick", nick) }
        case .notice(let text): output.json("notice") { $0.member("text", text) }
        case .message(let nick, let text):
            output.json("message") {
                $0.member("nick", nick)
                $0.member("text", text)
            }
        }
    }
}
