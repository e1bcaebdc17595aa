import AppSupport
import ArgumentParser
import CommandFrame

@main
enum StreamHello {
    static func main() { AppRunner.main(StreamHelloCommand.self) }
}

/// The root of the commands.
struct StreamHelloCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stream-hello",
        abstract: "A server and clients of the smallest protocol: two greetings over TCP, by address or by name.",
        discussion: """
            Examples:
              stream-hello serve                   listen on port 9000
              stream-hello connect HOST            greet the server there; nc and telnet can be either side
              stream-hello serve --publish         any port, published as tony._tonyipp._tcp
              stream-hello resolve                 find tony by name, within a second, and greet it
              stream-hello browse                  greet whoever comes

            The client sends "Hello Server!" and the server answers "Hello Client!", each with a zero byte at its end.
            Exit status: 0 done, 1 not found or no answer in time, 64 usage, 69 nothing finds or publishes, 76 unreachable.
            """,
        version: "stream-hello \(DiscoverdVersion.current)",
        subcommands: [ServeCommand.self, ConnectCommand.self, ResolveCommand.self, BrowseCommand.self]
    )

    static var _errorPrefix: String { "stream-hello: error: " }
}

/// What both sides agree on.
enum Hello {
    static let port = 9000
    static let type = "_tonyipp._tcp"
    static let name = "tony"
    static let toServer = Array("Hello Server!\0".utf8)
    static let toClient = Array("Hello Client!\0".utf8)
    /// The maximum length of a message.
    static let limit = 4096
    /// A zero byte ends a message; so does a newline, for people with nc and telnet.
    static let ends: Set<UInt8> = [0, 0x0A]
}
