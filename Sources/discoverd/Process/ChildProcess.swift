#if Commands
internal import CommandFrame
internal import DNSSD
internal import Glibc
internal import Synchronization

/// A program that runs beside a command.
final class ChildProcess: Sendable {
    private let id: pid_t
    /// Guards `kill` against an id that was given to another process: true once the program was waited for.
    private let hasEnded = Mutex(false)
    /// Held while a descriptor is made that cannot be marked at once as not for programs.
    static let newDescriptors = Mutex(())

    /// Starts a program, found as a shell finds it.
    /// - Parameters:
    ///   - arguments: its name and arguments, byte for byte; not empty.
    ///   - connection: becomes its standard input and output; nil leaves them as they are.
    init(_ arguments: [[UInt8]], connection: Int32? = nil) throws {
        let name = String(decoding: arguments.first ?? [], as: UTF8.self)
        // Inherited as ignored it would take the program's status away (waitpid(2)).
        signal(SIGCHLD, SIG_DFL)
        var child = pid_t()
        let code = Self.spawn(&child, arguments, connection)
        switch code {
        case 0: id = child
        case ENOENT:
            throw CommandError(.programNotFound, "\(name.escapedForTerminal): no such program")
        default:
            throw CommandError(
                .programNotExecutable,
                "\(name.escapedForTerminal): cannot be started: \(systemMessage(code))"
            )
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
            let signal = status & 0x7F
            report(ExitStatus(rawValue: signal == 0 ? (status >> 8) & 0xFF : 128 + signal))
        }
    }

    /// Starts a program with no signal blocked, and with the default action for SIGPIPE.
    /// - Returns: 0, or an `errno`.
    private static func spawn(_ child: inout pid_t, _ arguments: [[UInt8]], _ connection: Int32?) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let connection {
            unsafe posix_spawn_file_actions_adddup2(&actions, connection, STDIN_FILENO)
            unsafe posix_spawn_file_actions_adddup2(&actions, connection, STDOUT_FILENO)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        var defaults = sigset_t()
        unsafe sigemptyset(&defaults)
        unsafe sigaddset(&defaults, SIGPIPE)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var list = unsafe arguments.map { argument in
            unsafe argument.map { CChar(bitPattern: $0) }.withUnsafeBufferPointer {
                unsafe $0.baseAddress.map { unsafe strndup($0, argument.count) } ?? strdup("")
            }
        }
        unsafe list.append(nil)
        defer { unsafe list.forEach { unsafe free($0) } }
        guard let name = unsafe list[0] else { return EINVAL }
        return newDescriptors.withLock { _ in
            unsafe posix_spawnp(&child, name, &actions, &attributes, list, environ)
        }
    }
}
#endif
