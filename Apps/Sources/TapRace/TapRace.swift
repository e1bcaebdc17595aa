import AppSupport
import AppTLS
import ArgumentParser
import CommandFrame
import DNSSD
import Discovery
import DiscoveryTLS
import Glibc
import PeerSession
import TerminalUI

/// The program.
@main
struct TapRace: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "tap-race",
        abstract: "Two players tap as fast as they can for 30 seconds.",
        discussion: """
            Shows who else is there; Enter invites, and the other accepts with y. Then every key is a tap. Without a terminal, or
            with --plain, in lines: a name invites, y or n answers an invitation, and every line is a tap.

            Examples:
              tap-race                             under this machine's name, until q
              tap-race tony                        invites tony at once, and ends after one race
              tap-race --accept                    accepts the first invitation, and ends after one race

            Players speak TLS. A person is asked about a key that is not known; without a terminal it is refused, unless
            --trust first takes it (discoverd-key(1)).

            Exit status: 0 raced or left, 1 not found, declined, or the other left before the end, 64 usage, 69 nothing finds or publishes,
            76 no answer, 77 a key that is not known or has changed, 78 no key of one's own.
            """,
        version: "tap-race \(DiscoverdVersion.current)"
    )

    @Argument(help: "Whom to invite at once.")
    var player: String?

    @Option(
        name: .long, help: "Under which name to be found; default: this machine's.", transform: { try ServiceName($0) })
    var name: ServiceName?

    @Flag(name: .long, help: "Accept whoever invites first.")
    var accept = false

    @Option(name: .long, help: ArgumentHelp("How long a race lasts, for both: 1 to 600.", valueName: "seconds"))
    var seconds = 30

    @Option(name: .long, help: ArgumentHelp("How long to look for PLAYER, and for an answer.", valueName: "seconds"))
    var timeout = 30

    @Flag(name: .long, help: "Speak in lines even at a terminal.")
    var plain = false

    @OptionGroup var security: PeerOptions
    @OptionGroup var options: AppOptions

    static var _errorPrefix: String { "tap-race: error: " }

    static func main() { AppRunner.main(TapRace.self) }

    func validate() throws {
        guard (1...600).contains(seconds) else { throw ValidationError("--seconds takes 1 to 600.") }
        guard (1...86_400).contains(timeout) else { throw ValidationError("--timeout takes 1 to 86400.") }
    }

    func run(in app: App) async throws {
        let keys = KeyQuestions()
        let (news, told) = AsyncStream.makeStream(of: KeyNews.self, bufferingPolicy: .bufferingNewest(64))
        var tls = try security.tls(asks: false) { told.yield(.bound($0)) }
        // The screen asks, or lines do, where a person reads them.
        if !app.json, isatty(STDIN_FILENO) == 1, app.output.isTerminal { tls.ask = { await keys.ask($0) } }
        let session = try PeerSession(
            network: try app.network(), identifier: "tap-race", displayName: (name ?? .ofThisMachine()).text,
            mode: .peer, on: app.options.interfaces, tls: tls
        ) { told.yield(.refused($0)) }
        let terminal = Terminal.open(for: app, plain: plain)
        defer { terminal.close() }
        let table = RaceTable(
            terminal: terminal, session: session, keys: keys, news: news, duration: .seconds(seconds),
            patience: .seconds(timeout), wanted: player, acceptsAll: accept, takesFirstKeys: security.trustFirst)
        try await table.run()
        // The screen is gone; the result of the only race stays.
        guard terminal.isInteractive, let verdict = await table.verdict else { return }
        terminal.close()
        terminal.tell("over", verdict)
    }
}
