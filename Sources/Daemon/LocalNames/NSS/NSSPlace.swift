internal import DNSSD
internal import DiscoverySystem
internal import Libc

/// The path at which libnss-mdns asks, while this process may have it: avahi-daemon takes it away when it starts, and removes what it has there
/// when it ends. A value around the file system; used on one thread.
package struct NSSPlace {
    /// Who has the path.
    enum Owner: Hashable {
        case us, others
        case nobody
        /// A socket without a listener.
        case abandoned
        /// What is there is no socket.
        case obstacle
    }

    static let path = "/run/avahi-daemon/socket"
    /// Before /run was what it is now, programs bound below /var, which is a link to it.
    private static let old = Array("/var".utf8)

    let path: String
    /// The socket that listens there, and its file.
    private(set) var descriptor: Int32 = -1
    private var file: (dev_t, ino_t)?

    init(path: String = Self.path) { self.path = path }

    var owner: Owner {
        var info = stat()
        guard unsafe lstat(path, &info) == 0 else { return .nobody }
        if let file, file == (info.st_dev, info.st_ino) { return .us }
        guard info.st_mode & S_IFMT == S_IFSOCK else { return .obstacle }
        if Self.hasListener(path, besides: descriptor) || Self.isAnswered(path) { return .others }
        return .abandoned
    }

    /// Whether somebody listens whom the kernel does not list here, as one in another network namespace. Asked only then: to be connected
    /// to, systemd would start avahi-daemon.
    private static func isAnswered(_ path: String) -> Bool {
        guard let address = SocketAddress(unix: Array(path.utf8)), let socket = try? Sockets.make(AF_UNIX) else {
            return true
        }
        defer { Libc.close(socket) }
        return address.connect(socket) == 0 || errno != ECONNREFUSED
    }

    /// Listens there, in the place of a socket that nobody listens at.
    mutating func take() throws(SystemError) {
        close()
        let directory = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        guard unsafe mkdir(directory, 0o755) == 0 || errno == EEXIST else { throw SystemError(errno, directory) }
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw SystemError(errno, path) }
        guard let address = SocketAddress(unix: Array(path.utf8)) else { throw SystemError(ENAMETOOLONG, path) }
        let socket = try Sockets.make(AF_UNIX)
        var info = stat()
        // Nobody can connect before it listens.
        guard address.bind(socket) == 0, Self.admitAll(path), unsafe lstat(path, &info) == 0, listen(socket, 128) == 0
        else {
            let error = SystemError(errno, path)
            Libc.close(socket)
            throw error
        }
        (descriptor, file) = (socket, (info.st_dev, info.st_ino))
    }

    /// Lets everybody connect, whatever the umask says. The directory is avahi's, who may put a link in the socket's place: that is not followed.
    static func admitAll(_ path: String) -> Bool {
        unsafe fchmodat(AT_FDCWD, path, 0o666, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Listens no more, and removes the file if it is still its own.
    mutating func close() {
        guard descriptor >= 0 else { return }
        if owner == .us { _ = unsafe unlink(path) }
        Libc.close(descriptor)
        (descriptor, file) = (-1, nil)
    }

    /// Whether a socket listens at a path, of what the kernel lists.
    static func hasListener(_ path: String, besides own: Int32 = -1) -> Bool {
        var info = stat()
        let isThere = unsafe fstat(own, &info) == 0
        let inode = isThere ? info.st_ino : 0
        guard let list = try? SystemFile.read("/proc/thread-self/net/unix", atMost: 8 << 20) else { return true }
        return hasListener(Array(path.utf8), besides: UInt64(inode), in: list)
    }

    /// - Parameter list: `Num RefCount Protocol Flags Type St Inode Path` (proc_pid_net(5)).
    package static func hasListener(_ path: [UInt8], besides inode: UInt64, in list: [UInt8]) -> Bool {
        let accepting: UInt32 = 1 << 16
        return list.split(separator: 0x0A).dropFirst().contains { line in
            let words = line.split(separator: 0x20, maxSplits: 7)
            guard words.count == 8, words[7].elementsEqual(path) || words[7].elementsEqual(Self.old + path),
                let flags = UInt32(String(decoding: words[3], as: UTF8.self), radix: 16),
                let number = UInt64(String(decoding: words[6], as: UTF8.self))
            else { return false }
            return flags & accepting != 0 && number != inode
        }
    }
}
