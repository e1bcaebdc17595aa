internal import DNSSD
internal import Glibc
internal import System

/// Reads configuration files. Blocks, but never on a pipe; never reads more than the maximum size.
enum ConfigurationFiles {
    /// The maximum number of drop-ins.
    static let maximumDropIns = 256

    /// The bytes of a file; nil if it does not exist.
    static func read(_ path: String, atMost limit: Int) throws(ConfigurationError) -> [UInt8]? {
        do throws(SystemError) {
            return try SystemFile.read(path, atMost: limit)
        } catch {
            switch error.code {
            case ENOENT: return nil
            case EINVAL: throw ConfigurationError(file: path, line: nil, reason: "not a regular file")
            case EFBIG:
                throw ConfigurationError(file: path, line: nil, reason: "larger than \(limit / 1024) KiB")
            default: throw fault(error, path)
            }
        }
    }

    /// The paths of the `*.yaml` files in some directories, sorted by name, without hidden ones. A file hides those of the same name in later
    /// directories, and itself where it is a link to /dev/null, as with systemd (systemd.unit(5)). A directory need not be there.
    static func dropIns(in directories: [String]) throws(ConfigurationError) -> [String] {
        var paths: [String: String] = [:]
        for directory in directories {
            for name in try names(in: directory) where paths[name] == nil { paths[name] = "\(directory)/\(name)" }
        }
        guard paths.count <= maximumDropIns else { throw tooMany(directories[0]) }
        return paths.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(\.value)
            .filter { SystemFile.real($0) != "/dev/null" }
    }

    private static func names(in directory: String) throws(ConfigurationError) -> [String] {
        let names: [String]
        do throws(SystemError) {
            names = try SystemFile.names(in: directory, atMost: maximumDropIns + 1) {
                $0.hasSuffix(".yaml") && !$0.hasPrefix(".")
            }
        } catch {
            if error.code == ENOENT { return [] }
            throw fault(error, directory)
        }
        guard names.count <= maximumDropIns else { throw tooMany(directory) }
        return names
    }

    private static func tooMany(_ directory: String) -> ConfigurationError {
        ConfigurationError(file: directory, line: nil, reason: "more than \(maximumDropIns) files")
    }

    private static func fault(_ error: SystemError, _ path: String) -> ConfigurationError {
        ConfigurationError(file: path, line: nil, reason: "cannot be read: \(SystemError.text(error.code))")
    }
}
