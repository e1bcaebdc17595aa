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

/// What the files of a configuration are, without what is in them: two stamps that are the same are of the same files.
public struct ConfigurationStamp: Hashable, Sendable {
    private struct File: Hashable {
        let path: String
        let device: UInt
        let number: UInt
        let size: Int
        let written: [Int]
    }

    private let files: [File]

    /// Looks at the files of a place. Blocks.
    public init(_ place: ConfigurationPlace) {
        // Directories that cannot be read say so when the configuration is read.
        let directories = ["\(place.directory)/services.d"] + ConfigurationFiles.trusted(place.dropIns)
        let dropIns = (try? ConfigurationFiles.dropIns(in: directories)) ?? []
        files = (ConfigurationFiles.present("\(place.directory)/discoverd") + dropIns).compactMap { path in
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return nil }
            // A file that is replaced has another number, one that is moved in place another time of change.
            let times = [status.st_mtim, status.st_ctim].flatMap { [$0.tv_sec, $0.tv_nsec] }
            return File(
                path: path, device: UInt(status.st_dev), number: UInt(status.st_ino), size: Int(status.st_size),
                written: times)
        }
    }
}

/// Tells when what is looked at again and again has changed, and is no longer being changed. A value.
public struct SettledChange<Stamp: Equatable> {
    private var taken: Stamp
    private var seen: Stamp

    /// What counts as unchanged.
    public init(_ stamp: Stamp) { (taken, seen) = (stamp, stamp) }

    /// Whether there is something new that was the same the last time: true once for each change.
    public mutating func isDue(_ stamp: Stamp) -> Bool {
        defer { seen = stamp }
        guard stamp == seen, stamp != taken else { return false }
        taken = stamp
        return true
    }

    /// It has been taken over otherwise.
    public mutating func take(_ stamp: Stamp) { (taken, seen) = (stamp, stamp) }
}

extension SettledChange: Sendable where Stamp: Sendable {}
