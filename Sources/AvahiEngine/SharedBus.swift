import DNSSD
import Glibc

/// Where the private backend of one process can be found by the others of the same user on the same network: a second
/// avahi-daemon beside it would quarrel with it over UDP 5353. Touched by the loop's thread only.
///
/// A symbolic link to the bus's socket, in a directory where nobody else can put one, and a lock that its owner holds.
/// A link that was left by a process that was killed leads nowhere, and nobody can connect to it.
final class SharedBus {
    /// The link.
    let socket: String
    private let lockPath: String
    private var lock: Int32 = -1
    private var target: String?

    /// Nil where there is no directory that is ours alone: not in /tmp, where the link could be another's.
    init?() {
        var candidates = SystemFile.environment("RUNTIME_DIRECTORY").map { [String($0.prefix { $0 != ":" })] } ?? []
        if let directory = SystemFile.environment("XDG_RUNTIME_DIR") { candidates.append(directory) }
        if geteuid() == 0 { candidates.append("/run") }
        // Another network namespace is another network, though it may have the same /run.
        var network = stat()
        guard unsafe stat("/proc/self/ns/net", &network) == 0 else { return nil }
        let name = "/discoverd-\(network.st_ino)"
        let usable = candidates.lazy.filter { $0.hasPrefix("/") }.compactMap { SystemFile.real($0) }
            .first { Self.isOurs($0) && ($0 + name + ".bus").utf8.count < 108 }
        guard let usable else { return nil }
        socket = usable + name + ".bus"
        lockPath = usable + name + ".lock"
    }

    deinit { withdraw() }

    private static func isOurs(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            && (status.st_uid == geteuid() || status.st_uid == 0) && status.st_mode & (S_IWGRP | S_IWOTH) == 0
            && access(path, W_OK | X_OK) == 0
    }

    /// Whether a bus of another process is there now.
    var answers: Bool {
        guard target == nil, let link = SystemFile.link(socket) else { return false }
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(link.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    /// Tries to become the one that starts the backend; false while another process is it.
    func claim() -> Bool {
        guard lock < 0 else { return true }
        let file = unsafe open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        // Without a lock there may be two, which is still better than none.
        guard file >= 0 else { return true }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            close(file)
            return false
        }
        lock = file
        return true
    }

    /// Lets others find the bus that listens at `path`.
    func offer(_ path: String) {
        guard lock >= 0 else { return }
        let new = socket + ".new"
        unsafe unlink(new)
        guard unsafe symlink(path, new) == 0, unsafe rename(new, socket) == 0 else { return }
        target = path
    }

    /// The bus is gone, or about to.
    func withdraw() {
        if let target, SystemFile.link(socket) == target { unsafe unlink(socket) }
        target = nil
        guard lock >= 0 else { return }
        // The file stays: without it, one who has it open and one who makes it anew would both hold a lock.
        close(lock)
        lock = -1
    }
}
