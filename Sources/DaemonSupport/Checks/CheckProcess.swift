internal import CLinux
internal import DNSSD
internal import Glibc

/// A program that is run for a check: in a process group of its own, without input, its output thrown away.
struct CheckProcess: ~Copyable {
    /// Readable when the program has ended (pidfd_open(2)).
    let descriptor: Int32
    private let id: pid_t

    private init(id: pid_t, descriptor: Int32) {
        self.id = id
        self.descriptor = descriptor
    }

    /// Starts a program, found as a shell finds it.
    /// - Parameter command: its name and arguments; not empty.
    static func start(_ command: [String]) throws(ProbeFailure) -> CheckProcess {
        let name = (command.first ?? "").escapedForTerminal
        var child = pid_t()
        let code = spawn(&child, command)
        guard code == 0 else { throw ProbeFailure(name, code: code) }
        // Not waited for yet, so the number cannot be another's.
        let descriptor = clinux_pidfd_open(child)
        guard descriptor >= 0 else {
            let code = errno
            _ = finish(child)
            throw ProbeFailure(name, code: code)
        }
        return CheckProcess(id: child, descriptor: descriptor)
    }

    /// Kills what is left of the process group, and waits for the program.
    /// - Returns: its status, or 128 plus the number of the signal that ended it.
    consuming func end() -> Int32 {
        close(descriptor)
        return Self.finish(id)
    }

    private static func finish(_ id: pid_t) -> Int32 {
        kill(-id, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) == -1 {
            // ECHILD: SIGCHLD is ignored, which takes the status away.
            guard errno == EINTR else { return 255 }
        }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    /// - Returns: 0, or an `errno`.
    private static func spawn(_ child: inout pid_t, _ command: [String]) -> Int32 {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        var defaults = sigset_t()
        unsafe sigfillset(&defaults)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        unsafe posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        // Descriptors of libraries that are not close-on-exec (posix_spawn_file_actions_addclosefrom_np(3), glibc 2.34).
        _ = unsafe clinux_close_from(&actions, STDERR_FILENO + 1)
        var list: [UnsafeMutablePointer<CChar>?] = unsafe command.map { unsafe strdup($0) }
        unsafe list.append(nil)
        defer { unsafe list.forEach { unsafe free($0) } }
        guard let name = unsafe list[0] else { return EINVAL }
        return unsafe posix_spawnp(&child, name, &actions, &attributes, list, environ)
    }
}
