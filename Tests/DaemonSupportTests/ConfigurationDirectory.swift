import Foundation

@testable import DiscoveryDaemon

/// A temporary directory, removed when the test ends.
final class ConfigurationDirectory {
    let path: String

    init(_ files: KeyValuePairs<String, String> = [:]) throws {
        path = NSTemporaryDirectory() + "discoverd-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path + "/services.d", withIntermediateDirectories: true)
        for (name, text) in files { try write(name, Array(text.utf8)) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    }

    /// - Parameter lower: directories of less important drop-ins.
    func load(_ lower: ConfigurationDirectory...) throws(ConfigurationError) -> DaemonConfiguration {
        try DaemonConfiguration.load(
            directory: path, dropIns: lower.map { "\($0.path)/services.d" }, hostName: "h1"
        ) { ["discoverd": 900, "www-data": 33][$0] }
    }

    /// The error of `load()`, without the directory: `discoverd.yaml:2: …`.
    func fault() -> String? {
        do throws(ConfigurationError) {
            _ = try load()
            return nil
        } catch {
            return error.description.replacingOccurrences(of: path + "/", with: "")
        }
    }
}
