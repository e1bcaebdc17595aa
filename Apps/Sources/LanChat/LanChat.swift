import AppSupport
import ArgumentParser
import CommandFrame

@main
enum LanChat {
    static func main() { AppRunner.main(LanChatCommand.self) }
}

/// The root of the commands.
struct LanChatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lanchat",
        abstract: "Chat on the local network: a server of lines, and a client that finds it.",
        discussion: """
            Examples:
              lanchat serve                     a room on port 6222, for those whose keys are known
              lanchat serve --trust first       for everyone on this network, with the key that comes first for a label
              lanchat join --nick anna          the room that is there, or one of a list
              lanchat join books                the room of that name
              lanchat join --host 10.0.0.7      a server that is not announced
              lanchat serve --plain             without TLS; nc HOST 6222, iam:bob, then msg:hello

            A nick tells who somebody says to be; over TLS it belongs to the key that came with it first.
            Exit status: 0 done, 1 not found, 64 usage, 69 nothing finds or publishes, 71 the port is taken, 74 the connection broke,
            76 unreachable or no TLS, 77 a key that is not known or has changed, 78 no key of one's own.
            """,
        version: "lanchat \(DiscoverdVersion.current)",
        subcommands: [ServeCommand.self, JoinCommand.self]
    )

    static var _errorPrefix: String { "lanchat: error: " }

    static let type = "_chat-discoverd._tcp"
    static let port = 6222
}
