#if Commands
internal import CommandFrame
internal import DNSSD
internal import Glibc
internal import Synchronization
internal import System

/// A program that runs beside a command.
final class ChildProcess: Sendable {
    private let id: pid_t
    /// Guards `kill` against an id that was given to another process: true once the program was waited for.
    private let hasEnded = Mutex(false)
    /// Starts a program, found as a shell finds it.
    /// - Parameters:
    ///   - arguments: its name and arguments, byte for byte; not empty.
    ///   - connection: becomes its standard input and output; nil leaves them as they are.
    init(_ arguments: [[UInt8]], connection: Int32? = nil) throws {
        let name = String(decoding: arguments.first ?? [], as: UTF8.self)
        // Inherited as ignored it would take the program's status away (waitpid(2)).
        signal(SIGCHLD, SIG_DFL)
        do throws(SystemError) {
            id = try Program.start(arguments, connection.map { .connection($0) } ?? .inherited)
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

    /// Calls `report` with the program's status when it ends: its own, or 128 plus the number of the signal that killed it.
    func whenEnded(_ report: @escaping @Sendable (ExitStatus) -> Void) throws {
        try BlockingThread.start {
            var status: Int32 = 0
            // Only looked at, so that the id stays taken until `hasEnded` says so.
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
