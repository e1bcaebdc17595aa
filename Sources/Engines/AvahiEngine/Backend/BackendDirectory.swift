import DNSSD
import DiscoverySystem
import Libc

/// The directory for a private backend's socket and files. Its name is unpredictable and its mode 0700. It is created when needed and must
/// not exist before.
final class BackendDirectory {
    static let files = ["bus", "dbus.conf", "avahi-daemon.conf", "passwd", "group"]

    let path: String
    private var isMade = false

    var socket: String { path + "/bus" }

    init(path: String) { self.path = path }

    /// This process's directory: libdbus reads the bus's address once, so all engines of a process must use the same one.
    static let ofThisProcess = Result { () throws(DiscoveryError) in try choosePath() }

    /// A new name in the first safe one of $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR, /run (for root) and /tmp.
    static func choosePath() throws(DiscoveryError) -> String {
        var candidates = [Environment.directory("RUNTIME_DIRECTORY"), Environment.value("XDG_RUNTIME_DIR")].compactMap {
            $0
        }
        if geteuid() == 0 { candidates.append("/run") }
        candidates.append("/tmp")
        let name = "/discoverd-" + String(UInt64.random(in: .min ... .max), radix: 36)
        for candidate in candidates where candidate.hasPrefix("/") {
            // sun_path has 108 bytes, including the final 0 (unix(7)).
            guard let real = SystemFile.real(candidate), isSafe(real), geteuid() != 0 || isOpen(real),
                (real + name + "/bus").utf8.count < 108
            else { continue }
            return real + name
        }
        throw DiscoveryError(.backendUnavailable, "no directory for a private avahi-daemon: set XDG_RUNTIME_DIR")
    }

    /// Whether no one else can create, rename or remove our files there: only we may write, or the directory is sticky as /tmp is.
    private static func isSafe(_ path: String) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
            unsafe access(path, W_OK | X_OK) == 0
        else { return false }
        let isOurs = status.st_uid == geteuid() || status.st_uid == 0
        return isOurs && (status.st_mode & (S_IWGRP | S_IWOTH) == 0 || status.st_mode & S_ISVTX != 0)
    }

    /// Whether every user can enter it: root runs the daemons as another user.
    private static func isOpen(_ path: String) -> Bool {
        var ancestor = Substring(path)
        while !ancestor.isEmpty {
            var status = stat()
            guard unsafe stat(String(ancestor), &status) == 0, status.st_mode & S_IXOTH != 0 else { return false }
            ancestor = ancestor[..<(ancestor.lastIndex(of: "/") ?? ancestor.startIndex)]
        }
        return true
    }

    /// Creates the directory, or empties one that was left behind.
    /// - Throws: `.backendUnavailable` if it cannot be created, or something that this object did not create is in its place.
    func make() throws(DiscoveryError) {
        if isMade { remove() }
        guard SystemFile.makeOne(path, 0o700) == 0 else { throw failure("make the directory \(path)") }
        isMade = true
    }

    /// Writes a new file into the directory.
    func write(_ text: String, to name: String) throws(DiscoveryError) {
        let file = unsafe open(path + "/" + name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("write \(path)/\(name)") }
        // Regardless of the umask.
        fchmod(file, 0o600)
        let bytes = Array(text.utf8)
        let count = unsafe Libc.write(file, bytes, bytes.count)
        guard close(file) == 0, count == bytes.count else { throw failure("write \(path)/\(name)") }
    }

    /// Gives the directory and its files to the user that runs the daemons.
    func give(to user: DaemonUser) throws(DiscoveryError) {
        for path in Self.files.map({ path + "/" + $0 }) + [path] where unsafe lchown(path, user.user, user.group) != 0 {
            guard errno == ENOENT else { throw failure("give \(path) to user \(user.user)") }
        }
    }

    /// Removes what a killed supervisor left behind; otherwise nothing is there.
    func remove() {
        guard isMade else { return }
        for name in Self.files { unsafe unlink(path + "/" + name) }
        unsafe rmdir(path)
        isMade = false
    }

    private func failure(_ what: String) -> DiscoveryError {
        DiscoveryError(.backendUnavailable, SystemError(errno, "cannot \(what.escapedForTerminal)").description)
    }
}
