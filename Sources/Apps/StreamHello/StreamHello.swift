import AppSupport
import ArgumentParser

@main
enum StreamHello {
    static func main() { AppRunner.main(StreamHelloCommand.self) }
}

/// The root of the commands.
struct StreamHelloCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "stream-hello", abstract: "Says hello over a stream.")
}
