import AppSupport
import ArgumentParser
import CommandFrame
import DNSSD
import Discovery
import TerminalUI

/// The program.
@main
struct WiTap: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "witap",
        abstract: "Nine pads that light up at somebody else on the local network.",
        discussion: """
            Shows who else is there; Enter invites, and who is invited plays. Keys 1 to 9 or the mouse touch a pad, which lights
            up at the other side; q leaves the game, and again the program. While a game goes on, nobody else is let in.
            Without a terminal, or with --plain, in lines: a name invites, 5 taps pad 5, +5 and -5 hold it and let it go. q
            leaves the game, quit the program.

            Examples:
              witap                                under this machine's name
              witap --name anna
              witap tony                           invites tony at once

            Exit status: 0 played or left, 64 usage, 69 nothing finds or publishes, 71 no socket could be bound.
            """,
        version: "witap \(DiscoverdVersion.current)"
    )

    @Argument(help: "Whom to invite at once.", transform: { try ServiceName($0) })
    var player: ServiceName?

    @Option(
        name: .long, help: "Under which name to be found; default, and when empty: this machine's.",
        transform: { $0.isEmpty ? .ofThisMachine() : try ServiceName($0) })
    var name: ServiceName?

    @Option(
        name: .long,
        help: "Plays with others of this identifier only: letters, digits and hyphens, 14 characters at most.",
        transform: Self.type)
    var game: ServiceType?

    @Flag(name: .long, help: "Speak in lines even at a terminal.")
    var plain = false

    @OptionGroup var options: AppOptions

    static var _errorPrefix: String { "witap: error: " }

    static func main() { AppRunner.main(WiTap.self) }

    func run(in app: App) async throws {
        let network = try app.network()
        let terminal = Terminal.open(for: app, plain: plain)
        defer { terminal.close() }
        let lobby = Lobby(
            network: network, terminal: terminal, name: name ?? .ofThisMachine(),
            type: try game ?? Self.type(Lobby.identifier), interfaces: app.options.interfaces, invited: player)
        try await lobby.run()
    }

    /// The service type for a game identifier.
    static func type(_ identifier: String) throws -> ServiceType {
        guard let type = ServiceType(gameIdentifier: identifier) else {
            throw ValidationError(
                "a game's identifier has 1 to 14 lower case letters, digits and hyphens, none of them first or last")
        }
        return type
    }
}
