internal import DNSSD
internal import Glibc
internal import System

/// Where a configuration is.
public struct ConfigurationPlace: Hashable, Sendable {
    /// Has `discoverd.yaml` and `services.d`.
    public let directory: String
    /// Without the directory there are not the defaults, but an error: nothing is withdrawn for a slip of the pen.
    public let mustExist: Bool

    /// Creates a place.
    public init(directory: String, mustExist: Bool) {
        self.directory = directory
        self.mustExist = mustExist
    }

    /// Reads what is there. Blocks.
    /// - Throws: what is wrong, all of it.
    public func load() throws(ConfigurationError) -> DaemonConfiguration {
        var status = stat()
        if mustExist, unsafe stat(directory, &status) != 0 {
            let reason = "cannot be read: \(SystemError.text(errno))"
            throw ConfigurationError(file: directory, line: nil, reason: reason)
        }
        return try DaemonConfiguration.load(directory: directory)
    }
}
