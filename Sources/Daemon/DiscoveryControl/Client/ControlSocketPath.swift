public import DNSSD
internal import DiscoverySystem
internal import Libc

/// Paths of the daemon's control socket.
public enum ControlSocketPath {
    /// The path of the system's daemon.
    public static let system = "/run/discoverd/control.sock"

    /// The longest path in bytes that a socket address can hold (`sun_path`, unix(7)), without its final zero.
    public static let maximumLength = 107

    /// Where a client looks, in order: an explicit path, the directory that systemd created for it, the user's own
    /// daemon, the system's.
    public static func candidates(explicit: String?) -> [String] {
        if let explicit { return [explicit] }
        return [own("RUNTIME_DIRECTORY"), own("XDG_RUNTIME_DIR", "/discoverd"), system].compactMap(\.self)
    }

    /// Where a daemon creates its socket: `$RUNTIME_DIRECTORY`, `/run/discoverd` for root, `$XDG_RUNTIME_DIR/discoverd`
    /// for other users.
    /// - Throws: `.notFound` if the environment names no directory; no default is safe from other users.
    public static func forDaemon(explicit: String?) throws(DiscoveryError) -> String {
        let user = geteuid() == 0 ? system : own("XDG_RUNTIME_DIR", "/discoverd")
        guard let path = explicit ?? own("RUNTIME_DIRECTORY") ?? user else {
            throw DiscoveryError(
                .notFound,
                "no directory for the control socket: neither RUNTIME_DIRECTORY nor XDG_RUNTIME_DIR is set; say --socket"
            )
        }
        guard path.utf8.count <= maximumLength else {
            throw DiscoveryError(
                .limitExceeded,
                "\(path.quotedForMessage): a socket's path has \(maximumLength) bytes at most (unix(7))"
            )
        }
        return path
    }

    private static func own(_ variable: String, _ suffix: String = "") -> String? {
        guard let directory = Environment.directory(variable), directory.hasPrefix("/") else { return nil }
        return "\(directory)\(suffix)/control.sock"
    }
}
