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
              lanchat serve                     a room on port 6222, for everyone on this network
              lanchat join --nick anna          the room that is there, or one of a list
              lanchat join books                the room of that name
              lanchat join --host 10.0.0.7      a server that is not announced
              nc HOST 6222                      type iam:bob, then msg:hello

            Anyone on the network can join, under any name that is free: a nick tells who somebody says to be.
            Exit status: 0 done, 1 not found, 64 usage, 69 no backend, 71 the port is taken, 74 the connection broke,
            76 unreachable.
            """,
        version: "lanchat \(DiscoverdVersion.current)",
        subcommands: [ServeCommand.self, JoinCommand.self]
    )

    static var _errorPrefix: String { "lanchat: error: " }

    static let type = "_chat-discoverd._tcp"
    static let port = 6222
}
