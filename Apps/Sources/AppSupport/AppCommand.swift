public import ArgumentParser
public import CommandFrame

/// A command of one of the programs.
public protocol AppCommand: ParsableCommand, Sendable {
    /// Options of every program.
    var options: AppOptions { get }

    /// The status when a signal ends the command.
    static var statusWhenStopped: ExitStatus { get }

    /// Does it. Ends early, in whatever way, when the task is cancelled.
    func run(in app: App) async throws
}

extension AppCommand {
    /// A signal is the ordinary end.
    public static var statusWhenStopped: ExitStatus { .done }
}
