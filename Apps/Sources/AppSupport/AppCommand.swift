public import ArgumentParser
public import CommandFrame

/// A command of one of the programs.
public protocol AppCommand: ParsableCommand, Sendable {
    /// The options that all programs share.
    var options: AppOptions { get }

    /// The exit status when a signal ends the command.
    static var statusWhenStopped: ExitStatus { get }

    /// Runs the command. It ends early, in any way it likes, when the task is cancelled.
    func run(in app: App) async throws
}

extension AppCommand {
    /// A signal is the normal way to end.
    public static var statusWhenStopped: ExitStatus { .done }
}
