internal import DNSSD
internal import Glibc

/// The directory of the control socket, held by one daemon at a time.
///
/// The lock is `flock` on a file in it: the kernel releases it however a process ends, unlike a number in a file.
package final class RuntimeDirectory: Sendable {
    /// Why a daemon cannot have the directory.
    package enum Failure: Error, Hashable, Sendable {
        /// Another daemon has it; its process number, if it could be read.
        case alreadyRunning(pid: Int32?)
        case unusable(String)
    }

    /// How many connections may wait to be accepted; each is served within a second of 1024 that are refused.
    static let backlog: Int32 = 1024

    /// The socket in it.
    package let socketPath: String
    private let directory: Int32
    private let lock: Int32
    private let name: String

    /// Makes the directory if need be and locks it.
    package init(socketPath: String) throws(Failure) {
        let slash = socketPath.lastIndex(of: "/") ?? socketPath.startIndex
        let path = slash == socketPath.startIndex ? "." : String(socketPath[..<slash])
        name = String(socketPath[slash...].drop { $0 == "/" })
        guard !name.isEmpty else { throw .unusable("\(socketPath.quotedForMessage) names no socket") }
        self.socketPath = socketPath
        // Everyone may connect; only we may make anything in it.
        let isNew = unsafe mkdir(path, 0o755) == 0
        guard isNew || errno == EEXIST else { throw Self.system(path) }
        directory = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard directory >= 0 else { throw Self.system(path) }
        var info = stat()
        guard unsafe fstat(directory, &info) == 0 else {
            close(directory)
            throw Self.system(path)
        }
        guard info.st_uid == geteuid() || info.st_uid == 0, info.st_mode & 0o022 == 0 else {
            close(directory)
            throw .unusable("\(path.quotedForMessage) belongs to another user, or others may write to it")
        }
        // Whatever the umask says.
        if isNew { fchmod(directory, 0o755) }
        lock = unsafe openat(directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        // From here on the object is whole: `deinit` closes both, also when this throws.
        guard lock >= 0 else { throw Self.system("\(path)/lock") }
        do throws(SystemError) {
            try FileBytes.requireRegular(lock, "\(path)/lock")
        } catch {
            throw .unusable(error.description)
        }
        // One of another version may be open to more.
        fchmod(lock, 0o600)
        guard Self.take(lock) else {
            throw errno == EWOULDBLOCK ? .alreadyRunning(pid: Self.pid(in: lock)) : Self.system(path)
        }
        _ = ftruncate(lock, 0)
        let text = Array("\(getpid())\n".utf8)
        _ = unsafe pwrite(lock, text, text.count, 0)
    }

    /// A program that is being started has a copy of the lock until its `exec`: this waits a moment for that.
    private static func take(_ lock: Int32) -> Bool {
        for _ in 0..<10 {
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { return true }
            guard errno == EWOULDBLOCK else { return false }
            usleep(20_000)
        }
        return flock(lock, LOCK_EX | LOCK_NB) == 0
    }

    deinit {
        if lock >= 0 { close(lock) }
        close(directory)
    }

    /// A listening socket, replacing one that a killed daemon left behind.
    package func listen() throws(Failure) -> Int32 {
        try removeStale()
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(AF_UNIX, Int32(kind), 0)
        guard descriptor >= 0 else { throw Self.system(socketPath) }
        // Everyone may connect, whatever the umask, which other threads make files with: SO_PEERCRED decides what each may do.
        // Nobody connects before it listens, and nobody else has put anything else there.
        guard unsafe withAddress({ unsafe bind(descriptor, $0, $1) }) == 0,
            unsafe fchmodat(directory, name, 0o666, 0) == 0,
            Glibc.listen(descriptor, RuntimeDirectory.backlog) == 0
        else {
            let failure = Self.system(socketPath)
            close(descriptor)
            throw failure
        }
        return descriptor
    }

    /// Removes the socket.
    package func removeSocket() { _ = unsafe unlinkat(directory, name, 0) }

    /// Whether the socket is still where clients look for it.
    package var hasSocket: Bool {
        var info = stat()
        return unsafe lstat(socketPath, &info) == 0 && info.st_mode & S_IFMT == S_IFSOCK
    }

    /// Removes a socket without a listener; anything else is not ours.
    private func removeStale() throws(Failure) {
        var info = stat()
        guard unsafe fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        guard info.st_mode & S_IFMT == S_IFSOCK else {
            throw .unusable("\(socketPath.quotedForMessage) exists and is no socket")
        }
        // We hold the lock, but the service manager may hold the socket.
        guard !answers else { throw .unusable("somebody listens at \(socketPath.quotedForMessage) already") }
        removeSocket()
    }

    /// Whether the socket has a listener.
    private var answers: Bool {
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(AF_UNIX, Int32(kind), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // EAGAIN: it has one that is busy (unix(7)).
        return unsafe withAddress { unsafe connect(descriptor, $0, $1) } == 0 || errno == EAGAIN
    }

    private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: socketPath.utf8) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func pid(in lock: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe pread(lock, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes[..<count], as: UTF8.self).prefix { $0.isNumber })
    }

    private static func system(_ what: String) -> Failure {
        .unusable(SystemError(errno, what.quotedForMessage).description)
    }
}
