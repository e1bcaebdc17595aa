import AppSupport
import AppTLS
import ArgumentParser
import CommandFrame
import DNSSD
import Discovery
import DiscoveryTLS
import LanChatCore
import NIOCore
import PeerIdentity

struct JoinCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "Joins a room: lines of standard input are said, what is said is shown.",
        discussion: """
            Without NAME and --host: the only room that is there, or one of a list; without a terminal it is an error (64)
            when there are several. A line that begins with / is a command: /who, /nick NICK, /quit; // says a line that
            begins with /. Standard input's end leaves the room.

            The room's key must be known; of one that is not the person at the terminal is asked (discoverd-key(1)). A room
            that was opened with --plain is joined with --plain.
            """
    )

    @Argument(help: "The room's name.", transform: Parsing.soughtName)
    var name: ServiceName?

    @Option(name: .long, help: "A host instead of a name: its name or address.")
    var host: String?

    @Option(name: .long, help: "The host's port; default: 6222.", transform: Parsing.port)
    var port: Port?

    @Flag(name: .long, help: "Without TLS, for a room that was opened so: anyone on the way can read along.")
    var plain = false

    @OptionGroup var person: NickOption
    @OptionGroup var security: PeerOptions
    @OptionGroup var options: AppOptions

    func validate() throws {
        try security.validate(plain: plain)
        if name != nil && host != nil { throw ValidationError("NAME and --host exclude each other.") }
        if port != nil && host == nil { throw ValidationError("--port is for --host.") }
    }

    func run(in app: App) async throws {
        let tls = plain ? nil : try security.tls { app.notices.notice($0) }
        let call = ChatCall(app: app, tls: tls)
        let stream = try await call.connect(to: name, host: host, port: port)
        let screen = ChatScreen(app)
        ProcessEnd.before { screen.close() }
        defer { screen.close() }
        do {
            try await stream.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: "iam:\(person.own)\n"))
                let hasLeft = try await withThrowingTaskGroup(of: Bool.self) { group in
                    group.addTask {
                        try await say(from: screen, to: outbound)
                        outbound.finish()
                        return !Task.isCancelled
                    }
                    let hasJoined = try await show(inbound, on: screen)
                    group.cancelAll()
                    // A room that refused us has said why.
                    return try await group.next() ?? false || !hasJoined
                }
                if !hasLeft, !Task.isCancelled { screen.show(.notice("the room was closed")) }
            }
        } catch let error where !(error is CancellationError) && !(error is CommandError) {
            screen.close()
            throw call.failure(error)
        }
    }

    /// Shows the room's messages until it closes.
    /// - Returns: whether the room admitted us.
    private func show(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, on screen: ChatScreen
    ) async throws -> Bool {
        var framing = LineFraming(limit: 2 * ChatText.maximumLine)
        var hasJoined = false
        for try await buffer in inbound {
            for case .line(let line) in framing.received(buffer.readableBytesView) {
                let event = ChatEvent(line)
                // The first to join is ourselves.
                if case .joined = event { hasJoined = true }
                screen.show(event)
            }
        }
        if let rest = framing.ended() { screen.show(ChatEvent(rest)) }
        return hasJoined
    }

    private func say(from screen: ChatScreen, to outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws {
        while let lines = await screen.lines() {
            for line in lines {
                switch Said(line) {
                case .request(let request): try await outbound.write(ByteBuffer(string: request + "\n"))
                case .nothing: continue
                case .leave: return
                case .unknown: screen.show(Said.help)
                }
            }
        }
    }
}
