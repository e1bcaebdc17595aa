import Foundation
import Glibc
import Synchronization

/// A daemon on a lab host, with its own configuration and state.
final class LabDaemon: Sendable {
    /// Where commands look for the daemon by default.
    static let systemSocket = "/run/discoverd/control.sock"

    let lab: Lab
    let host: String
    /// Holds `conf`, `state` and, unless it is the system's, the socket; visible to the tests too.
    let directory: String
    let socket: String
    private let started = Mutex<LabProcess?>(nil)

    /// Creates the directory; starts nothing.
    init(_ lab: Lab, _ host: String = "h1", socket: String? = nil) throws {
        self.lab = lab
        self.host = host
        directory = FileManager.default.temporaryDirectory.appending(path: "discoverd-daemon-\(UUID().uuidString)")
            .path(percentEncoded: false)
        self.socket = socket ?? "\(directory)/run/control.sock"
        for name in ["conf/services.d", "state", "run"] {
            try FileManager.default.createDirectory(
                atPath: "\(directory)/\(name)", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755])
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// Starts a daemon at the system's socket, over the host's avahi-daemon, and waits until it serves.
    static func start(
        on host: String, of lab: Lab, _ configuration: String = "", environment: [String: String] = [:]
    ) async throws -> LabDaemon {
        let daemon = try LabDaemon(lab, host, socket: systemSocket)
        try daemon.configure(configuration)
        let finder = Lab.chosenFinder.map { ["--finder", $0] } ?? []
        try await daemon.start(
            arguments: daemon.arguments + ["--state", "\(daemon.directory)/state"]
                + (Lab.publishesOnWire ? Lab.publisher : ["--avahi", "always"]) + finder,
            environment: environment)
        return daemon
    }

    /// The daemon's arguments, except for its state.
    var arguments: [String] {
        let socket = socket == Self.systemSocket ? [] : ["--socket", socket]
        return ["daemon", "--config", "\(directory)/conf"] + socket
    }

    /// The most recently started process.
    var process: LabProcess {
        get throws {
            guard let process = started.withLock({ $0 }) else { throw LabProcess.Missed(description: "not started") }
            return process
        }
    }

    /// Writes a configuration file.
    func configure(_ text: String, _ name: String = "discoverd.yaml") throws {
        try text.write(toFile: "\(directory)/conf/\(name)", atomically: true, encoding: .utf8)
    }

    /// Starts the daemon, and waits until it serves.
    @discardableResult
    func start(_ options: String..., environment: [String: String] = [:]) async throws -> LabProcess {
        try await start(arguments: arguments + ["--state", "\(directory)/state"] + options, environment: environment)
    }

    /// Starts the daemon with only these arguments, perhaps as another user, and waits until it serves.
    @discardableResult
    func start(
        as user: [String] = [], arguments: [String], environment: [String: String] = [:]
    ) async throws -> LabProcess {
        let process = try lab.exec(host, user + [Built.discoverd] + arguments, environment: environment)
        started.withLock { $0 = process }
        try await process.line(.stderr, within: .seconds(30), "serving") { $0.contains("serving \(self.socket)") }
        return process
    }

    /// Kills the daemon without goodbyes, and starts another with the same state.
    func killAndRestart() async throws {
        let old = try process
        old.signal(SIGKILL)
        try await old.exit()
        try await start("--avahi", "always")
    }

    func stop() async throws { try await process.stop() }
}

extension LabDaemon {
    /// Runs a command that asks the daemon.
    func ask(_ command: String...) async throws -> Lab.Run {
        try await lab.toEnd(host, [Built.discoverd] + command + ["--socket", socket], within: .seconds(30))
    }

    /// A service in `ls --json`.
    struct Registration: Decodable {
        var name: String
        var state: String
        var reason: String?
        var warning: String?
    }

    func registrations() async throws -> [Registration] {
        try await ask("ls", "--json").output.map { try JSONDecoder().decode(Registration.self, from: Data($0.utf8)) }
    }

    /// Waits until a service is as wanted.
    func until(
        _ name: String, within limit: Duration = .seconds(30), _ what: String,
        _ matches: (Registration) -> Bool
    ) async throws {
        let end = ContinuousClock.now + limit
        var last: [Registration] = []
        repeat {
            let told = try process.lines(.stderr).count
            last = try await registrations()
            if last.contains(where: { $0.name == name && matches($0) }) { return }
            // The daemon logs each change.
            try await process.waitForLines(beyond: told, .stderr, within: ContinuousClock.now.duration(to: end))
        } while ContinuousClock.now < end
        throw LabProcess.Missed(description: "\(name) is not \(what) within \(limit): \(last)")
    }
}
