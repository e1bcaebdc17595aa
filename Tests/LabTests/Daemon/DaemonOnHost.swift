import Foundation
import Testing

/// A daemon on a host of the lab, with configuration, state and socket in a directory of its own.
final class DaemonOnHost: Sendable {
    let lab: Lab
    let host: String
    let directory: String

    init(_ lab: Lab, _ host: String = "h1") throws {
        self.lab = lab
        self.host = host
        directory = FileManager.default.temporaryDirectory.appending(path: "discoverd-daemon-\(UUID().uuidString)")
            .path(percentEncoded: false)
        for name in ["conf/services.d", "state", "run"] {
            try FileManager.default.createDirectory(
                atPath: "\(directory)/\(name)", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755])
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    var socket: String { "\(directory)/run/control.sock" }
    var arguments: [String] { ["daemon", "--config", "\(directory)/conf", "--socket", socket] }

    /// Writes a file of the configuration.
    func configure(_ text: String, _ name: String = "discoverd.yaml") throws {
        try text.write(toFile: "\(directory)/conf/\(name)", atomically: true, encoding: .utf8)
    }

    /// Starts it, and waits until it serves.
    func start(_ options: String..., environment: [String: String] = [:]) async throws -> LabProcess {
        let process = try lab.exec(
            host, [DiscoverdBinary.path] + arguments + ["--state", "\(directory)/state"] + options,
            environment: environment)
        try await process.line(.stderr, within: .seconds(30), "serving") { $0.contains("serving \(self.socket)") }
        return process
    }

    /// Runs a command that asks it.
    func ask(_ command: String...) async throws -> Lab.Run {
        try await lab.toEnd(host, [DiscoverdBinary.path] + command + ["--socket", socket], within: .seconds(30))
    }

    /// What `ls --json` says of a service.
    struct Registration: Decodable {
        var name: String
        var state: String
        var reason: String?
        var warning: String?
    }

    func registrations() async throws -> [Registration] {
        try await ask("ls", "--json").output.map { try JSONDecoder().decode(Registration.self, from: Data($0.utf8)) }
    }

    /// Waits until a service is as it should be.
    func until(
        _ name: String, within limit: Duration = .seconds(30), _ what: String,
        _ matches: (Registration) -> Bool
    ) async throws {
        let start = ContinuousClock.now
        var last: [Registration] = []
        while start.duration(to: .now) < limit {
            last = try await registrations()
            if last.contains(where: { $0.name == name && matches($0) }) { return }
            try await Task.sleep(for: .milliseconds(200))
        }
        throw LabProcess.Missed(description: "\(name) is not \(what) within \(limit): \(last)")
    }
}
