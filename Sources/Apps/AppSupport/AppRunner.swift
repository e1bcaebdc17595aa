public import ArgumentParser
import CProcessStart
import CommandText
import DNSSD
import Glibc
import Synchronization

/// Runs a program: its command line, signals, what its errors mean, its exit status.
public enum AppRunner {
    /// How long a program may take to end once it was asked to: goodbyes need 2 s at most.
    private static let grace = 4

    /// Whether a signal, or a standard output that nobody reads, asked the program to end.
    public static var isStopping: Bool { state.withLock { $0.isStopping } }

    private struct State {
        var isStopping = false
        var failure: AppError?
        var cancel: (@Sendable () -> Void)?
        var restore: [@Sendable () -> Void] = []
    }

    private static let state = Mutex(State())

    /// Has `body` called before the process ends, however that comes about, but for SIGKILL and a crash.
    public static func beforeExit(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.restore.append(body) }
    }

    /// Asks the running command to end, as Ctrl-C does.
    public static func stop() {
        let cancel = state.withLock { state in
            state.isStopping = true
            return state.cancel
        }
        cancel?()
    }

    /// Asks the running command to end, for a reason.
    static func fail(_ error: AppError) {
        state.withLock { if !$0.isStopping { $0.failure = error } }
        stop()
    }

    /// Parses the command line, runs the command, exits. To be called by `main`, on the main thread, first thing.
    public static func main<Root: ParsableCommand>(_ root: Root.Type) -> Never {
        let name = root._commandName
        // Measured (ResourceLimitTests): with less a program fails, or hangs, without a word.
        cprocessstart(name, cprocessstart_need(descriptors: 16, threads: 8, space: 48 << 20))
        let notices = Notices(program: name)
        let arguments: [String]
        do throws(CommandLineArguments.NotUTF8) {
            arguments = try CommandLineArguments(CommandLineArguments.ofProcess(), runners: []).texts
        } catch {
            notices.failure(AppError(.usage, "the argument '\(error.argument)' is not UTF-8"))
            exit(AppStatus.usage.rawValue)
        }
        do {
            var parsed = try root.parseAsRoot(arguments)
            guard let command = parsed as? any AppCommand else {
                try parsed.run()
                exit(AppStatus.done.rawValue)
            }
            run(command, notices)
        } catch {
            let status = root.exitCode(for: error)
            let text = root.fullMessage(for: error, columns: HelpText.unlimited)
            if status.isSuccess {
                print(HelpText.fitted(text, to: STDOUT_FILENO))
            } else if !text.isEmpty {
                notices.text(text)
            }
            exit(status.rawValue)
        }
    }

    /// Runs the command in a task while this, the main thread, waits for signals.
    private static func run(_ command: any AppCommand, _ notices: Notices) -> Never {
        signal(SIGPIPE, SIG_IGN)
        let signals = EndingSignals()
        signals.block()
        let app = App(options: command.options, output: Output(), notices: notices)
        let statusWhenStopped = type(of: command).statusWhenStopped
        let task = Task {
            let status: AppStatus
            do {
                try await command.run(in: app)
                if let failure = state.withLock({ $0.failure }) { throw failure }
                status = isStopping ? statusWhenStopped : .done
            } catch {
                let failure = state.withLock { $0.failure }
                status = isStopping && failure == nil ? statusWhenStopped : tell(failure ?? error, notices)
            }
            await app.shutDown()
            end(status)
        }
        let isLate = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.isStopping
        }
        if isLate { task.cancel() }
        signals.wait()
        stop()
        // Again: an impatient person.
        signals.wait(atMost: grace)
        end(statusWhenStopped)
    }

    private static func tell(_ error: any Error, _ notices: Notices) -> AppStatus {
        let error =
            (error as? AppError) ?? (error as? DiscoveryError).map { AppError($0) }
            ?? AppError(.systemError, String(describing: error))
        if !error.isTold { notices.failure(error) }
        return error.status
    }

    private static func end(_ status: AppStatus) -> Never {
        let restore = state.withLock { state in
            defer { state.restore = [] }
            return state.restore
        }
        for body in restore { body() }
        // Not exit(): other threads still run, and what they use must not be torn down under them.
        _exit(status.rawValue)
    }
}
