import Glibc
import Synchronization

/// posix_spawn and its companions: children inherit only the three standard descriptors from the tests.
enum Spawn {
    /// Glibc's module lacks pipe2, so no child may start between creating and marking a pipe.
    private static let order = Mutex(())

    /// Starts a program with default signal handling; nil and errno if that fails.
    static func run(
        _ arguments: [String],
        environment: [String],
        stdin: Int32,
        stdout: Int32,
        stderr: Int32
    ) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, stdin, 0)
        posix_spawn_file_actions_adddup2(&actions, stdout, 1)
        posix_spawn_file_actions_adddup2(&actions, stderr, 2)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        let argv = arguments.map { strdup($0) } + [nil]
        let envp = environment.map { strdup($0) } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var pid: pid_t = 0
        let error = order.withLock { _ in posix_spawn(&pid, arguments[0], &actions, &attributes, argv, envp) }
        errno = error
        return error == 0 ? pid : nil
    }

    /// Creates a pipe that children do not inherit.
    static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        let made = order.withLock { _ in
            guard Glibc.pipe(&ends) == 0 else { return false }
            return ends.allSatisfy { fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
        }
        guard made else {
            throw LabProcess.Missed(description: "no pipe: \(String(cString: strerror(errno)))")
        }
        return (ends[0], ends[1])
    }

    /// Blocks until the child has ended, without releasing its process id.
    static func waitUntilZombie(_ pid: pid_t) {
        var info = siginfo_t()
        while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    }

    /// Collects a child that has ended.
    static func reap(_ pid: pid_t) -> LabProcess.Exit {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
    }
}

/// Splits a descriptor's data into lines.
enum LineReader {
    /// Blocks until end of file, closes the descriptor, and reports the end as nil.
    static func read(_ descriptor: Int32, _ take: (String?) -> Void) {
        var pending: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") {
                    take(String(decoding: pending, as: UTF8.self))
                    pending.removeAll(keepingCapacity: true)
                } else {
                    pending.append(byte)
                }
            }
        }
        close(descriptor)
        if !pending.isEmpty { take(String(decoding: pending, as: UTF8.self)) }
        take(nil)
    }
}
