internal import DNSSD
internal import DiscoverySystem
internal import Libc

/// Reads configuration files. Blocks, but never on a pipe; never reads more than the maximum size.
enum ConfigurationFiles {
    /// The maximum number of drop-ins.
    static let maximumDropIns = 256

    /// The bytes of a file; nil if it does not exist.
    /// - Parameter isOthers: it is not the administrator's: no one but root and the daemon's user may be able to write it.
    static func read(_ path: String, atMost limit: Int, isOthers: Bool) throws(ConfigurationError) -> [UInt8]? {
        do throws(SystemError) {
            return isOthers
                ? try SystemFile.readTrusted(path, atMost: limit) : try SystemFile.read(path, atMost: limit)
        } catch {
            switch error.code {
            case ENOENT: return nil
            case EPERM where isOthers: throw untrusted(path)
            case EINVAL: throw ConfigurationError(file: path, line: nil, reason: "not a regular file")
            case EFBIG:
                throw ConfigurationError(file: path, line: nil, reason: "larger than \(limit / 1024) KiB")
            default: throw fault(error, path)
            }
        }
    }

    /// How a configuration file's name ends; either is read.
    static let endings = [".yaml", ".yml"]

    /// The paths of the files in some directories, sorted by name, without hidden ones. A file hides those of the same name, whatever its
    /// ending, in later directories, and itself where it is a link to /dev/null, as with systemd (systemd.unit(5)). A directory need not be
    /// there.
    /// - Parameter doubled: receives files that are there with both endings: neither is among the paths.
    static func dropIns(
        in directories: [String], doubled: (ConfigurationError) -> Void = { _ in }
    ) throws(ConfigurationError) -> [String] {
        var seen: Set<Substring> = []
        var files: [(name: String, path: String)] = []
        for directory in directories {
            let here = Dictionary(grouping: try names(in: directory)) { name in
                name.dropLast(endings.first { name.hasSuffix($0) }?.count ?? 0)
            }
            for (stem, names) in here where seen.insert(stem).inserted {
                let paths = names.sorted().map { "\(directory)/\($0)" }
                if let fault = both(paths) { doubled(fault) } else { files.append((names[0], paths[0])) }
            }
        }
        guard files.count <= maximumDropIns else { throw tooMany(directories[0]) }
        return files.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }.map(\.path)
            .filter { SystemFile.real($0) != "/dev/null" }
    }

    /// The paths that a file may have, whatever its ending, and has.
    static func present(_ path: String) -> [String] {
        var info = stat()
        return endings.map { path + $0 }.filter { unsafe lstat($0, &info) == 0 }
    }

    /// What is wrong where a file is there with both endings.
    static func both(_ paths: [String]) -> ConfigurationError? {
        guard paths.count > 1, let first = paths.first, let last = paths.last else { return nil }
        return ConfigurationError(
            file: first, line: nil, reason: "\(last.escapedForTerminal) is there, too: remove one of them")
    }

    /// The directories of packages and programs in which no one but root and the daemon's user can put a file.
    /// - Parameter refused: receives why another one is left out.
    static func trusted(_ directories: [String], refused: (ConfigurationError) -> Void = { _ in }) -> [String] {
        directories.filter { directory in
            do throws(SystemError) {
                guard try SystemFile.isTrusted(directory: directory) == false else { return true }
                refused(untrusted(directory))
            } catch {
                refused(fault(error, directory))
            }
            return false
        }
    }

    private static func untrusted(_ path: String) -> ConfigurationError {
        ConfigurationError(
            file: path, line: nil, reason: "it must be root's or the daemon's user's, and no one else may write it")
    }

    private static func names(in directory: String) throws(ConfigurationError) -> [String] {
        let names: [String]
        do throws(SystemError) {
            names = try SystemFile.names(in: directory, atMost: maximumDropIns + 1) {
                name in endings.contains { name.hasSuffix($0) } && !name.hasPrefix(".")
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
