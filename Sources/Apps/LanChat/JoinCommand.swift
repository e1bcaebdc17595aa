import AppSupport
import ArgumentParser
import DNSSD
import Discovery
import DiscoveryNIO
import Glibc
import LanChatCore
import NIOCore

struct JoinCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "Joins a room: lines of standard input are said, what is said is shown.",
        discussion: """
            Without NAME and --host: the first room that answers. A line that begins with / is a command: /nick NICK,
            /quit; // says a line that begins with /. Standard input's end leaves the room.
            """
    )

    @Argument(help: "The room's name.", transform: Parsing.soughtName)
    var name: ServiceName?

    @Option(name: .long, help: "Who to be; default: the user's name.")
    var nick: String?

    @Option(name: .long, help: "A host instead of a name: its name or address.")
    var host: String?

    @Option(name: .long, help: "The host's port; default: 6222.", transform: Parsing.port)
    var port: Port?

    @OptionGroup var options: AppOptions

    func validate() throws {
        if name != nil && host != nil { throw ValidationError("NAME and --host exclude each other.") }
        if port != nil && host == nil { throw ValidationError("--port is for --host.") }
        if let nick, Nick(nick) == nil || ChatText.clean(nick.utf8) != nick {
            throw ValidationError(
                "a nick has 1 to \(Nick.maximumLength) printable characters, no colon and no leading *.")
        }
    }

    func run(in app: App) async throws {
        let stream = try await connect(app)
        let screen = ChatScreen(app)
        AppRunner.beforeExit { screen.close() }
        defer { screen.close() }
        do {
            try await stream.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: "iam:\(ownNick)\n"))
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        try await say(from: screen, to: outbound)
                        outbound.finish()
                    }
                    try await show(inbound, on: screen)
                    group.cancelAll()
                }
            }
        } catch let error where !(error is CancellationError) && !(error is AppError) {
            throw AppError(.ioError, "the connection broke: \(failureText(error))")
        }
    }

    private var ownNick: String {
        if let nick { return nick }
        let user = getenv("USER").map { ChatText.clean(String(cString: $0).utf8) } ?? ""
        return Nick(user)?.description ?? "guest\(getpid() % 1000)"
    }

    private func connect(_ app: App) async throws -> ByteStream {
        if let host {
            return try await ByteStream.connect(host: host, port: Int(port?.rawValue ?? UInt16(LanChatCommand.port)))
        }
        let type = try ServiceType(LanChatCommand.type)
        let target = name.map { ConnectTarget.instance(ServiceInstance(name: $0, type: type)) } ?? .any(type)
        return try await app.network().connect(to: target, on: options.interfaces) { ByteStream.wrap($0) }.output
    }

    private func show(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, on screen: ChatScreen) async throws {
        var framing = LineFraming(limit: 2 * ChatText.maximumLine)
        for try await buffer in inbound {
            for case .line(let line) in framing.received(buffer.readableBytesView) { screen.show(ChatEvent(line)) }
        }
        if let rest = framing.ended() { screen.show(ChatEvent(rest)) }
    }

    private func say(from screen: ChatScreen, to outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws {
        while let lines = await screen.lines() {
            for line in lines {
                guard let request = Self.request(line, screen) else { return }
                if !request.isEmpty { try await outbound.write(ByteBuffer(string: request + "\n")) }
            }
        }
    }

    /// What to send for a line; nil to leave.
    private static func request(_ line: String, _ screen: ChatScreen) -> String? {
        let line = ChatText.clean(line.utf8)
        if line.isEmpty || !line.hasPrefix("/") { return line.isEmpty ? "" : "msg:\(line)" }
        if line.hasPrefix("//") { return "msg:\(line.dropFirst())" }
        if line == "/quit" { return nil }
        if line.hasPrefix("/nick ") { return "iam:\(line.dropFirst(6))" }
        screen.show(.notice("commands: /nick NICK, /quit"))
        return ""
    }
}
