import CLinux
import Libc

/// Starts other programs (posix_spawn(3)).
package enum Program {
    /// Where a program's standard input, output and error lead.
    package enum Streams {
        /// The same as this program's.
        case inherited
        /// Input and output are a connection.
        case connection(Int32)
        /// Input is a file; the rest is as this program's.
        case input(Int32)
        /// No input; output is discarded. No other descriptor is open.
        case nowhere
    }

    /// Starts a program, found as a shell finds it, with no signal blocked.
    /// - Parameters:
    ///   - arguments: the program's name and arguments, byte for byte; not empty.
    ///   - hasOwnGroup: puts it into a process group of its own.
    ///   - isFresh: resets every signal to its default action. Otherwise only SIGPIPE, so that what `nohup` ignores
    ///     stays ignored.
    ///   - environment: added to this program's, and replaces what it has of these names.
    package static func start(
        _ arguments: [[UInt8]], _ streams: Streams, hasOwnGroup: Bool = false, isFresh: Bool = false,
        environment: [String: String] = [:]
    ) throws(SystemError) -> Int32 {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        var defaults = sigset_t()
        unsafe sigemptyset(&defaults)
        _ = unsafe isFresh ? sigfillset(&defaults) : sigaddset(&defaults, SIGPIPE)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0)
        unsafe posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        switch streams {
        case .inherited: break
        case .connection(let connection):
            unsafe posix_spawn_file_actions_adddup2(&actions, connection, STDIN_FILENO)
            unsafe posix_spawn_file_actions_adddup2(&actions, connection, STDOUT_FILENO)
        case .input(let file): unsafe posix_spawn_file_actions_adddup2(&actions, file, STDIN_FILENO)
        case .nowhere:
            unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
            unsafe posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
            // For library descriptors without close-on-exec (posix_spawn_file_actions_addclosefrom_np(3), glibc 2.34).
            _ = unsafe clinux_close_from(&actions, STDERR_FILENO + 1)
        }
        let list = unsafe copies(arguments)
        defer { unsafe list.forEach { unsafe free($0) } }
        let added = unsafe copies(environment.map { (name, value) in Array("\(name)=\(value)".utf8) })
        defer { unsafe added.forEach { unsafe free($0) } }
        let variables = unsafe Array(added.dropLast()) + Self.variables(but: environment) + [nil]
        var child = pid_t()
        guard let name = unsafe list[0] else { throw SystemError(EINVAL) }
        let code = unsafe posix_spawnp(&child, name, &actions, &attributes, list, variables)
        guard code == 0 else { throw SystemError(code) }
        return child
    }

    /// Texts as C has them, and nil after the last. To be freed.
    private static func copies(_ texts: [[UInt8]]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe texts.map { unsafe strdup($0.map { CChar(bitPattern: $0) } + [0]) as UnsafeMutablePointer<CChar>? } + [
            nil
        ]
    }

    /// This program's own variables, but for those that are given.
    private static func variables(but given: [String: String]) -> [UnsafeMutablePointer<CChar>?] {
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe []
        var next = unsafe environ
        while let variable = unsafe next.pointee {
            let name = unsafe String(cString: variable).prefix { $0 != "=" }
            if given[String(name)] == nil { unsafe variables.append(variable) }
            unsafe next = next.advanced(by: 1)
        }
        return unsafe variables
    }

    /// An empty file in memory, to be closed by the caller: a pipe would have to be written while the program reads.
    package static func memoryFile() throws(SystemError) -> Int32 {
        let file = unsafe clinux_memory_file("input")
        guard file >= 0 else { throw SystemError(errno) }
        return file
    }

    /// A descriptor that becomes readable when the process ends (pidfd_open(2)).
    package static func descriptor(of process: Int32) throws(SystemError) -> Int32 {
        let descriptor = clinux_pidfd_open(process)
        guard descriptor >= 0 else { throw SystemError(errno) }
        return descriptor
    }

    /// The exit status for a status of waitpid(2): the process's own, or 128 plus the signal's number.
    package static func status(_ raw: Int32) -> Int32 {
        let signal = raw & 0x7F
        return signal == 0 ? (raw >> 8) & 0xFF : 128 + signal
    }
}
