import Foundation

extension LabDaemon {
    /// curl's result.
    struct Answer: Sendable {
        let status: Int
        let text: String

        /// The body as a JSON object.
        func json() throws -> [String: Any] {
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
        }

        /// The objects of an array in the body.
        func objects(_ key: String) throws -> [[String: Any]] { try json()[key] as? [[String: Any]] ?? [] }

        /// An error's message.
        var reason: String { (try? json()["error"] as? [String: Any])?["message"] as? String ?? "" }
        /// An error's code.
        var code: String { (try? json()["error"] as? [String: Any])?["code"] as? String ?? "" }
    }

    /// Makes a request over the control socket.
    func curl(_ target: String, _ options: String...) async throws -> Answer {
        try await ask(["--unix-socket", socket] + options + ["http://localhost\(target)"])
    }

    /// Makes a request over TCP, on the same host.
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

    /// Starts a request whose answer keeps coming; its lines are the process's.
    func watch(_ target: String, _ options: String...) throws -> LabProcess {
        try lab.exec(
            host, ["/usr/bin/curl", "-sSN", "--unix-socket", socket] + options + ["http://localhost\(target)"])
    }

    /// Repeats a request until the answer is as wanted.
    func curl(
        _ target: String, within limit: Duration = .seconds(40), until isRight: (Answer) throws -> Bool
    ) async throws -> Answer {
        var last: Answer?
        return try await eventually(
            within: limit, every: .milliseconds(100), "\(target) as it should be: \(last as Any)"
        ) {
            let answer = try await curl(target)
            last = answer
            return try isRight(answer) ? answer : nil
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
    /// The next matching line of `watch`.
    @discardableResult
    func watched(
        within limit: Duration = .seconds(40),
        _ what: String,
        where matches: @escaping @Sendable (WatchedLine) -> Bool
    ) async throws -> WatchedLine {
        let text = try await line(.stdout, within: limit, what) { WatchedLine($0).map(matches) ?? false }
        guard let line = WatchedLine(text) else { throw missed("\(what) is no line of watch") }
        return line
    }
}
