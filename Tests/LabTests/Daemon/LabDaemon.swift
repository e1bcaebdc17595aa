import Foundation
import Glibc

/// A discoverd daemon on a host of the lab, with a configuration and a state of its own.
final class LabDaemon: Sendable {
    static let socket = "/run/discoverd/control.sock"

    let lab: Lab
    let host: String
    let directory: String
    let process: LabProcess

    private init(_ lab: Lab, _ host: String, _ directory: String, _ process: LabProcess) {
        self.lab = lab
        self.host = host
        self.directory = directory
        self.process = process
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// Starts a daemon and waits until it serves.
    static func start(
        on host: String,
        of lab: Lab,
        _ configuration: String = "",
        environment: [String: String] = [:]
    ) async throws -> LabDaemon {
        let directory = FileManager.default.temporaryDirectory.appending(path: "discoverd-daemon-\(UUID().uuidString)")
            .path(percentEncoded: false)
        try FileManager.default.createDirectory(atPath: directory + "/state", withIntermediateDirectories: true)
        try Self.write(configuration, to: directory)
        return try await start(lab, host, directory, environment)
    }

    private static func start(
        _ lab: Lab,
        _ host: String,
        _ directory: String,
        _ environment: [String: String] = [:]
    ) async throws -> LabDaemon {
        let arguments = ["daemon", "--config", directory, "--state", directory + "/state", "--backend", "system"]
        let process = try lab.exec(host, [DiscoverdBinary.path] + arguments, environment: environment)
        try await process.line(.stderr, within: .seconds(20), "serving") { $0.contains("serving \(socket)") }
        return LabDaemon(lab, host, directory, process)
    }

    private static func write(_ configuration: String, to directory: String) throws {
        try configuration.write(toFile: directory + "/discoverd.yaml", atomically: true, encoding: .utf8)
    }

    func configure(_ configuration: String) throws { try Self.write(configuration, to: directory) }

    /// Ends it without a chance to say goodbye, and starts another with the same state.
    func killAndRestart() async throws -> LabDaemon {
        process.signal(SIGKILL)
        try await process.exit()
        return try await Self.start(lab, host, directory)
    }

    func stop() async throws { try await process.stop() }

    /// What curl got.
    struct Answer: Sendable {
        let status: Int
        let text: String

        /// The body as a JSON object.
        func json() throws -> [String: Any] {
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
        }

        /// Objects of an array in the body.
        func objects(_ key: String) throws -> [[String: Any]] { try json()[key] as? [[String: Any]] ?? [] }

        /// What an error says.
        var reason: String { (try? json()["error"] as? [String: Any])?["message"] as? String ?? "" }
        /// The code of an error.
        var code: String { (try? json()["error"] as? [String: Any])?["code"] as? String ?? "" }
    }

    /// One request over the control socket.
    func curl(_ target: String, _ options: String...) async throws -> Answer {
        try await ask(["--unix-socket", Self.socket] + options + ["http://localhost\(target)"])
    }

    /// One request over TCP, on the same host.
    func curlTCP(_ url: String, _ options: String...) async throws -> Answer {
        try await curlTCP(url, options: options)
    }
    func curlTCP(_ url: String, options: [String]) async throws -> Answer { try await ask(options + [url]) }

    private func ask(_ arguments: [String]) async throws -> Answer {
        let run = try await lab.toEnd(
            host, ["/usr/bin/curl", "-sS", "--max-time", "30", "-w", "\n%{http_code}"] + arguments, within: .seconds(40)
        )
        guard run.exit == .exited(0), let status = run.output.last.flatMap({ Int($0) }) else {
            throw LabProcess.Missed(description: "curl \(arguments): \(run.exit) \(run.errors) \(run.output)")
        }
        let text = run.output.dropLast().joined(separator: "\n")
        return Answer(status: status, text: text.hasSuffix("\n") ? String(text.dropLast()) : text)
    }

    /// A request whose answer goes on; its lines are the process's.
    func watch(_ target: String, _ options: String...) throws -> LabProcess {
        try lab.exec(
            host, ["/usr/bin/curl", "-sSN", "--unix-socket", Self.socket] + options + ["http://localhost\(target)"])
    }

    /// Asks until the answer is as it should be.
    func curl(_ target: String, until isRight: (Answer) throws -> Bool) async throws -> Answer {
        let end = ContinuousClock.now + .seconds(20)
        while true {
            let answer = try await curl(target)
            if try isRight(answer) { return answer }
            guard ContinuousClock.now < end else {
                throw LabProcess.Missed(description: "\(target) did not become as it should be: \(answer)")
            }
        }
    }
}

/// A line of `watch`.
struct WatchedLine: Decodable, Sendable {
    var event: String
    var service: ServiceLine?
    var cursor: String?

    init?(_ text: String) {
        guard let line = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = line
    }
}

extension LabProcess {
    /// The next line of `watch` that matches.
    @discardableResult
    func watched(
        within limit: Duration = .seconds(20),
        _ what: String,
        where matches: @escaping @Sendable (WatchedLine) -> Bool
    ) async throws -> WatchedLine {
        let text = try await line(.stdout, within: limit, what) { WatchedLine($0).map(matches) ?? false }
        guard let line = WatchedLine(text) else { throw missed("\(what) is no line of watch") }
        return line
    }
}
