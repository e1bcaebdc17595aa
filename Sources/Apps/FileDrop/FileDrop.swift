import AppSupport
import ArgumentParser

@main
enum FileDrop {
    static func main() { AppRunner.main(FileDropCommand.self) }
}

/// The root of the commands.
struct FileDropCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "filedrop", abstract: "To come.")
}
