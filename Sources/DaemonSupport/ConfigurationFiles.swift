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

    /// The paths of the `*.yaml` files in a directory, sorted by name, without hidden ones; empty if it does not exist.
    static func dropIns(in directory: String) throws(ConfigurationError) -> [String] {
        let names: [String]
        do throws(SystemError) {
            names = try SystemFile.names(in: directory, atMost: maximumDropIns + 1) {
                $0.hasSuffix(".yaml") && !$0.hasPrefix(".")
            }
        } catch {
            if error.code == ENOENT { return [] }
            throw fault(error, directory)
        }
        guard names.count <= maximumDropIns else {
            throw ConfigurationError(file: directory, line: nil, reason: "more than \(maximumDropIns) files")
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { "\(directory)/\($0)" }
    }

    private static func fault(_ error: SystemError, _ path: String) -> ConfigurationError {
        ConfigurationError(file: path, line: nil, reason: "cannot be read: \(SystemError.text(error.code))")
    }
}
