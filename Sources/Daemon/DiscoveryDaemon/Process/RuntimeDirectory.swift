internal import DNSSD
internal import DiscoverySystem
internal import Libc

/// The directory of the control socket, held by one daemon at a time.
///
/// The lock is `flock` on a file in it: the kernel releases it however a process ends, unlike a number in a file.
package final class RuntimeDirectory: Sendable {
    /// Why a daemon cannot have the directory.
    package enum Failure: Error, Hashable, Sendable {
        /// Another daemon has it; its process number, if it could be read.
        case alreadyRunning(pid: Int32?, directory: String)
        case unusable(String)
    }

    /// How many connections may wait to be accepted; each is served within a second of 1024 that are refused.
    package static let backlog: Int32 = 1024

    /// The socket in it.
    package let socketPath: String
    private let directory: Int32
    private let lock: Int32
    private let name: String

    /// Makes the directory if need be and locks it.
    package init(socketPath: String) throws(Failure) {
        let path: String
        (path, name) = Self.parts(of: socketPath)
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
        lock = SystemFile.openOwn("lock", in: directory)
        // From here on the object is whole: `deinit` closes both, also when this throws.
        guard lock >= 0 else { throw Self.system("\(path)/lock") }
        do throws(SystemError) {
            try SystemFile.requireRegular(lock, "\(path)/lock")
        } catch {
            throw .unusable(error.description)
        }
        // One of another version may be open to more.
        fchmod(lock, 0o600)
        switch SystemFile.lock(lock) {
        case 0: break
        case EWOULDBLOCK: throw .alreadyRunning(pid: Self.pid(in: lock), directory: path)
        case let code: throw .unusable(SystemError(code, path.quotedForMessage).description)
        }
        _ = ftruncate(lock, 0)
        let text = Array("\(getpid())\n".utf8)
        _ = unsafe pwrite(lock, text, text.count, 0)
    }

    /// The directory of a path, and the name in it.
    static func parts(of path: String) -> (directory: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let directory = slash == path.startIndex ? "/" : String(path[..<slash])
        return (directory, String(path[path.index(after: slash)...]))
    }

    deinit {
        if lock >= 0 { close(lock) }
        close(directory)
    }

    /// A listening socket, replacing one that a killed daemon left behind.
    package func listen() throws(Failure) -> Int32 {
        try removeStale()
        guard let address = SocketAddress(unix: Array(socketPath.utf8)), let descriptor = try? Sockets.make(AF_UNIX)
        else { throw Self.system(socketPath) }
        // Everyone may connect, regardless of the umask, which other threads use too: SO_PEERCRED decides what each may
        // do. No one can connect before it listens, and no one else can have placed anything else there.
        guard address.bind(descriptor) == 0, unsafe fchmodat(directory, name, 0o666, 0) == 0,
            Libc.listen(descriptor, RuntimeDirectory.backlog) == 0
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
        guard let address = SocketAddress(unix: Array(socketPath.utf8)) else { return false }
        do throws(SystemError) {
            close(try Sockets.connected(to: address))
            return true
        } catch {
            // It has one that is busy (unix(7)).
            return error.code == EAGAIN
        }
    }

    /// The process that holds a lock, as it has written there.
    static func pid(in lock: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe pread(lock, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes[..<count], as: UTF8.self).prefix { $0.isNumber })
    }

    private static func system(_ what: String) -> Failure {
        .unusable(SystemError(errno, what.quotedForMessage).description)
    }
}
