#if Commands
internal import CommandFrame
internal import DNSSD
internal import Libc
internal import Synchronization
internal import DiscoverySystem

/// A program that runs beside a command.
final class ChildProcess: Sendable {
    private let id: pid_t
    /// True once the program has been waited for. Its process id may then belong to another process, so `kill` must not use it.
    private let hasEnded = Mutex(false)
    /// Starts a program, searched for as a shell does.
    /// - Parameters:
    ///   - arguments: its name and arguments, byte for byte; not empty.
    ///   - streams: where its standard input and output lead.
    ///   - environment: added to this process's.
    init(_ arguments: [[UInt8]], _ streams: Program.Streams = .inherited, environment: [String: String] = [:]) throws {
        let name = String(decoding: arguments.first ?? [], as: UTF8.self)
        // If SIGCHLD were inherited as ignored, the program's status would be lost (waitpid(2)).
        signal(SIGCHLD, SIG_DFL)
        do throws(SystemError) {
            id = try Program.start(arguments, streams, environment: environment)
        } catch {
            guard error.code != ENOENT else {
                throw CommandError(.programNotFound, "\(name.escapedForTerminal): no such program")
            }
            throw CommandError(
                .programNotExecutable, "\(name.escapedForTerminal): cannot be started: \(systemMessage(error.code))")
        }
    }

    /// Sends a signal, unless the program has ended.
    func send(_ signal: Int32) {
        hasEnded.withLock { if !$0 { kill(id, signal) } }
    }

    /// Asks the program to end, if it still runs.
    func end() { send(SIGTERM) }

    /// Calls `report` with the program's status when it ends: its exit status, or 128 plus the number of the signal that killed it.
    func whenEnded(_ report: @escaping @Sendable (ExitStatus) -> Void) throws {
        try BlockingThread.start {
            var status: Int32 = 0
            // WNOWAIT keeps the id taken until `hasEnded` is set.
            var info = unsafe siginfo_t()
            while unsafe waitid(P_PID, id_t(self.id), &info, WEXITED | WNOWAIT) == -1, errno == EINTR {}
            self.hasEnded.withLock { hasEnded in
                while unsafe waitpid(self.id, &status, 0) == -1, errno == EINTR {}
                hasEnded = true
            }
            report(ExitStatus(rawValue: Program.status(status)))
        }
    }
}
#endif
