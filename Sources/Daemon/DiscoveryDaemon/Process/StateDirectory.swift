internal import DNSSD
internal import DiscoverySystem
internal import Libc

/// The directory where a daemon keeps detached registrations: one daemon at a time.
///
/// Two daemons that write one file would lose each other's data. The kernel releases the lock however a process ends.
package final class StateDirectory: Sendable {
    /// Its path; nil if there is none.
    package let path: String?
    /// Why there is none; the end of a sentence.
    package let reason: String?
    private let lock: Int32

    /// An existing directory without other users, for tests.
    package init(path: String) {
        (self.path, reason, lock) = (path, nil, -1)
    }

    /// Makes the directory if need be, and locks it.
    package init(_ place: StatePlace) {
        let path: String
        switch place {
        case .none(let why):
            (self.path, reason, lock) = (nil, why, -1)
            return
        case .chosen(let chosen):
            // A fault of a directory that was named is reported at each write.
            _ = SystemFile.makeOne(chosen, 0o755)
            path = chosen
        case .standard(let standard):
            if let problem = Self.make(standard) {
                (self.path, reason, lock) = (nil, "\(problem); --state DIRECTORY names another place", -1)
                return
            }
            path = standard
        }
        let lock = SystemFile.openOwn("\(path)/lock")
        // A file system without locks cannot reveal another daemon.
        guard lock < 0 || SystemFile.lock(lock) != EWOULDBLOCK else {
            let isOurs = RuntimeDirectory.pid(in: lock) == getpid()
            close(lock)
            // The control socket is in it, too, and its lock is this one.
            guard !isOurs else {
                (self.path, reason, self.lock) = (path, nil, -1)
                return
            }
            (self.path, self.lock) = (nil, -1)
            reason = "another daemon has \(path.quotedForMessage); --state DIRECTORY names another place"
            return
        }
        (self.path, reason, self.lock) = (path, nil, lock)
    }

    deinit { if lock >= 0 { close(lock) } }

    /// Makes a directory with all above it, which are for their owner only (XDG Base Directory Specification).
    /// - Returns: why it cannot be used.
    private static func make(_ path: String) -> String? {
        var made = ""
        let parts = path.split(separator: "/")
        for (index, part) in parts.enumerated() {
            made += "/\(part)"
            let mode: UInt32 = index == parts.count - 1 ? 0o755 : 0o700
            if SystemFile.makeOne(made, mode) != 0, errno != EEXIST {
                return SystemError(errno, made.quotedForMessage).description
            }
        }
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else {
            return SystemError(errno, path.quotedForMessage).description
        }
        return nil
    }
}

/// Where a daemon is to keep its state.
package enum StatePlace: Hashable, Sendable {
    /// It was named.
    case chosen(String)
    /// It is the usual one.
    case standard(String)
    /// There is no place; the reason ends a sentence.
    case none(String)

    /// - Parameters:
    ///   - option: from the command line.
    ///   - hasOwnSocket: the command line names a socket, as for a second daemon: the default directory belongs to the
    ///     first.
    ///   - environment: returns the value of a variable; an empty one counts as unset.
    package init(option: String?, hasOwnSocket: Bool, isRoot: Bool, environment: (String) -> String?) {
        if let option {
            self = .chosen(option)
        } else if let given = environment("STATE_DIRECTORY")?.split(separator: ":").first {
            // systemd.exec(5): several are separated by colons.
            self = .chosen(String(given))
        } else if hasOwnSocket {
            self = .none("it was started with --socket and without --state DIRECTORY")
        } else if isRoot {
            self = .standard("/var/lib/discoverd")
        } else if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") {
            self = .standard("\(state)/discoverd")
        } else if let home = environment("HOME"), home.hasPrefix("/") {
            self = .standard("\(home)/.local/state/discoverd")
        } else {
            self = .none("there is no $STATE_DIRECTORY, $XDG_STATE_HOME or $HOME; --state DIRECTORY names a place")
        }
    }
}
