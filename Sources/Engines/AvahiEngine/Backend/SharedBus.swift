import DNSSD
import DiscoverySystem
import Libc

/// Lets processes of one user on one network share a private backend: a second avahi-daemon would quarrel with it over UDP 5353. Used only
/// on the loop's thread.
///
/// Consists of a symbolic link to the bus's socket, in a directory where no one else can create one, and a lock that the owner holds. The
/// link of a killed process leads to a socket that accepts no connections.
final class SharedBus {
    /// A directory, and the names in it.
    struct Place {
        let directory: String
        let link: String
        let lock: String
    }

    let place: Place
    /// The path of the link.
    var socket: String { place.directory + "/" + place.link }
    private var lockPath: String { place.directory + "/" + place.lock }
    private var lock: Int32 = -1
    private var target: String?

    /// Nil if there is no directory that is ours alone. /tmp does not qualify: the link there could be another user's.
    init?() {
        var candidates = [Environment.directory("RUNTIME_DIRECTORY"), Environment.value("XDG_RUNTIME_DIR")].compactMap {
            $0
        }
        if geteuid() == 0 { candidates.append("/run") }
        // Another network namespace is another network, even if it has the same /run.
        var network = stat()
        guard unsafe stat("/proc/self/ns/net", &network) == 0 else { return nil }
        let name = "discoverd-\(network.st_ino)"
        let usable = candidates.lazy.filter { $0.hasPrefix("/") }.compactMap { SystemFile.real($0) }
            .first { Self.isOurs($0) && ($0 + "/" + name + ".bus").utf8.count < 108 }
        guard let usable else { return nil }
        place = Place(directory: usable, link: name + ".bus", lock: name + ".lock")
    }

    /// Uses the given place.
    init(in place: Place) { self.place = place }

    deinit { withdraw() }

    private static func isOurs(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            && (status.st_uid == geteuid() || status.st_uid == 0) && status.st_mode & (S_IWGRP | S_IWOTH) == 0
            && access(path, W_OK | X_OK) == 0
    }

    /// Whether another process's bus answers now.
    var answers: Bool {
        guard target == nil, let link = SystemFile.link(socket) else { return false }
        guard let address = SocketAddress(unix: Array(link.utf8)), let descriptor = try? Sockets.connected(to: address)
        else { return false }
        close(descriptor)
        return true
    }

    /// Tries to become the process that starts the backend; false while another one is.
    func claim() -> Bool {
        guard lock < 0 else { return true }
        // Every repetition means that another process has just removed the file.
        for _ in 0..<16 {
            let file = SystemFile.openOwn(lockPath)
            // Without a lock there may be two backends, which beats having none.
            guard file >= 0 else { return true }
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                close(file)
                return false
            }
            if isStill(file) {
                lock = file
                return true
            }
            close(file)
        }
        return false
    }

    /// Whether this file is still the one at the lock's path: a lock on a removed file keeps no one away.
    private func isStill(_ file: Int32) -> Bool {
        var (opened, named) = (stat(), stat())
        guard unsafe fstat(file, &opened) == 0, unsafe lstat(lockPath, &named) == 0 else { return false }
        return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino
    }

    /// Lets others find the bus that listens at `path`.
    func offer(_ path: String) {
        guard lock >= 0 else { return }
        let new = socket + ".new"
        unsafe unlink(new)
        guard unsafe symlink(path, new) == 0, unsafe rename(new, socket) == 0 else { return }
        target = path
    }

    /// Call when the bus is gone or about to go.
    func withdraw() {
        if let target, SystemFile.link(socket) == target { unsafe unlink(socket) }
        target = nil
        guard lock >= 0 else { return }
        // Only the holder of the lock removes its file, and whoever gets a lock checks that its file is still there.
        if isStill(lock) { unsafe unlink(lockPath) }
        close(lock)
        lock = -1
    }
}
