import AppSupport
import ArgumentParser

@main
enum LanChat {
    static func main() { AppRunner.main(LanChatCommand.self) }
}

/// The root of the commands.
struct LanChatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "lanchat", abstract: "To come.")
}
