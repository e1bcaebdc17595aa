internal import DNSSD
internal import DiscoverySystem
internal import Libc

/// Where a configuration is stored.
public struct ConfigurationPlace: Hashable, Sendable {
    /// The directory of `discoverd.yaml` and `services.d`.
    public let directory: String
    /// A missing directory is an error instead of meaning the defaults, so that a typo does not withdraw services.
    public let mustExist: Bool
    /// Directories of further drop-ins; one is left out if `services.d`, or an earlier directory, has a file of its name.
    public let dropIns: [String]

    /// Creates a place.
    public init(directory: String, mustExist: Bool, dropIns: [String] = []) {
        self.directory = directory
        self.mustExist = mustExist
        self.dropIns = dropIns
    }

    /// This machine's: what its administrator says, then what programs say while they run, then what packages
    /// say.
    public static let system = ConfigurationPlace(
        directory: "/etc/discoverd", mustExist: false,
        dropIns: ["/run/discoverd/services.d", "/usr/lib/discoverd/services.d"])

    /// Reads the configuration. Blocks.
    /// - Throws: all errors.
    public func load() throws(ConfigurationError) -> DaemonConfiguration {
        var status = stat()
        if mustExist, unsafe stat(directory, &status) != 0 {
            let reason = "cannot be read: \(SystemError.text(errno))"
            throw ConfigurationError(file: directory, line: nil, reason: reason)
        }
        return try DaemonConfiguration.load(directory: directory, dropIns: dropIns)
    }
}
