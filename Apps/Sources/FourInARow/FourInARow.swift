import AppSupport
import ArgumentParser
import CommandFrame

/// The program.
@main
struct FourInARow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "four-in-a-row",
        abstract: "Four in a row against somebody on the local network.",
        discussion: """
            One hosts a game, the other joins it; the host begins, and the one who did not begin the last game begins the
            next. Without a terminal, or with --plain, the game is played in lines. A number from 1 to 7 plays a column when it
            is your turn, n begins another game, q leaves.

            Examples:
              four-in-a-row host                   waits for an opponent, under this machine's name
              four-in-a-row join                   shows who hosts a game; Enter joins it
              four-in-a-row join tony              joins tony's game

            Exit status: 0 played or left, 1 nobody found, or the opponent left before the end, 64 usage, 65 the opponent broke
            the rules, 69 nothing finds or publishes, 76 the host does not answer.
            """,
        version: "four-in-a-row \(DiscoverdVersion.current)",
        subcommands: [HostCommand.self, JoinCommand.self],
        defaultSubcommand: JoinCommand.self
    )

    static var _errorPrefix: String { "four-in-a-row: error: " }

    static func main() { AppRunner.main(FourInARow.self) }
}

/// Options of both commands.
struct GameOptions: ParsableArguments {
    @Flag(name: .long, help: "Speak in lines even at a terminal.")
    var plain = false
}
