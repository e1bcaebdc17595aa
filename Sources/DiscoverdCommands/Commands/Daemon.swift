#if Commands
internal import ArgumentParser
internal import CommandFrame

struct DaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon",
        abstract: "Runs the daemon; 'discoverd daemon --help' has its options.",
        discussion: "It is a program of its own, discoverd-daemon, so that the other commands start fast."
    )

    @Argument(parsing: .captureForPassthrough, help: "Options of the daemon.")
    var arguments: [String] = []

    func run() throws {
        let failure = SiblingProgram.daemon.become(arguments)
        ProgramNotices().failure(failure)
        throw ExitCode(failure.status.rawValue)
    }
}
#endif
