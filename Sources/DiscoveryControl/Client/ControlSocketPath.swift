public import DNSSD
internal import Glibc
internal import System

/// Where the daemon's control socket is.
public enum ControlSocketPath {
    /// Where a system's daemon has it.
    public static let system = "/run/discoverd/control.sock"

    /// The longest path in bytes that a socket's address can hold (`sun_path`, unix(7)), its final zero taken off.
    public static let maximumLength = 107

    /// Where a client looks, in this order: a path it was given; where systemd made a directory for it; the user's own
    /// daemon; the system's.
    public static func candidates(explicit: String?) -> [String] {
        if let explicit { return [explicit] }
        return [own("RUNTIME_DIRECTORY"), own("XDG_RUNTIME_DIR", "/discoverd"), system].compactMap(\.self)
    }

    /// Where a daemon makes it: `$RUNTIME_DIRECTORY`, `/run/discoverd` for root, `$XDG_RUNTIME_DIR/discoverd` for others.
    /// - Throws: `.notFound` when the environment names no directory: there is no default that others could write to.
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
