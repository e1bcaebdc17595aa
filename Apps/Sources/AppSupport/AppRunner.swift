public import ArgumentParser
import CommandFrame
import CommandText
import DNSSD
import Glibc

/// Runs a program: parses its command line, handles signals and errors, sets its exit status.
public enum AppRunner {
    /// How long a program may take to end once asked to; goodbyes need at most 2 s.
    private static let grace = Duration.seconds(4)
    /// Measured (ResourceLimitTests): with less, a program fails or hangs silently.
    private static let needs = ProcessNeeds(descriptors: 24, threads: 8, mebibytes: 48)

    /// What options of the version before are now. They are parsed still, and hidden.
    private static let olds = [("--trust-first", "--trust first"), ("--pin", "--trust SHA256:…")]

    /// Parses the command line, runs the command, exits. Call it first in `main`, on the main thread.
    public static func main<Root: ParsableCommand>(_ root: Root.Type) -> Never {
        let name = root._commandName
        StandardDescriptors.fill()
        needs.require(of: name)
        let notices = ProgramNotices(program: name)
        let arguments: [String]
        do throws(CommandLineArguments.NotUTF8) {
            arguments = try CommandLineArguments(CommandLineArguments.ofProcess(), runners: []).texts
        } catch {
            refuse(CommandError(.usage, "the argument '\(error.argument)' is not UTF-8"), notices)
        }
        do {
            var parsed = try root.parseAsRoot(arguments)
            guard let command = parsed as? any AppCommand else {
                try parsed.run()
                exit(ExitStatus.done.rawValue)
            }
            for (old, new) in olds where arguments.contains(where: { $0 == old || $0.hasPrefix("\(old)=") }) {
                notices.hint("'\(old)' is now '\(new)'; the old option goes with the next version")
            }
            run(command, notices)
        } catch {
            let status = root.exitCode(for: error)
            if status == .validationFailure, let slip = CommandError(slipIn: arguments, of: root) {
                refuse(slip, notices)
            }
            let text = root.fullMessage(for: error, columns: HelpText.unlimited)
            if status.isSuccess {
                print(HelpText.fitted(text, to: STDOUT_FILENO))
            } else if !text.isEmpty {
                ProgramNotices.write(text.hasSuffix("\n") ? text : text + "\n")
            }
            exit(status.rawValue)
        }
    }

    /// Runs the command in a task while this thread, the main one, waits for signals.
    private static func run(_ command: any AppCommand, _ notices: ProgramNotices) -> Never {
        if let hint = command.options.avahi.hint { notices.hint(hint) }
        let statusWhenStopped = type(of: command).statusWhenStopped
        let stop = Stop()
        let watcher = Watcher(stop: stop, watchesOutput: false, grace: grace, statusWhenStopped: statusWhenStopped)
        do throws(CommandError) { try watcher.start() } catch { refuse(error, notices) }
        let app = App(options: command.options, stop: stop, notices: notices)
        let task = Task {
            var status = ExitStatus.done
            do {
                try await command.run(in: app)
                if let failure = stop.failure { throw failure }
                if stop.isRequested { status = statusWhenStopped }
            } catch {
                let failure = stop.failure
                status = stop.isRequested && failure == nil ? statusWhenStopped : tell(failure ?? error, notices)
            }
            await app.shutDown()
            ProcessEnd.now(status)
        }
        stop.onRequest { task.cancel() }
        watcher.waitForSignals()
    }

    private static func tell(_ error: any Error, _ notices: ProgramNotices) -> ExitStatus {
        var error =
            (error as? CommandError) ?? (error as? DiscoveryError).map { CommandError($0) }
            ?? CommandError(.systemError, String(describing: error))
        if error.isAboutBackend {
            error.advice = ["Install it: apt install avahi-daemon. 'discoverd doctor' says what is missing."]
        }
        if !error.isTold { notices.failure(error) }
        return error.status
    }

    private static func refuse(_ error: CommandError, _ notices: ProgramNotices) -> Never {
        notices.failure(error)
        exit(error.status.rawValue)
    }
}
