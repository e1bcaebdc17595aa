import Foundation

/// What a running program has printed, and the state that it adds up to.
protocol ProcessLog {
    var process: LabProcess { get }
    /// How many lines were taken in.
    var read: Int { get }
    var summary: String { get }

    /// Takes in everything printed so far.
    mutating func catchUp() throws
}

extension ProcessLog {
    /// Waits until the log is as wanted.
    /// - Returns: how long that took.
    @discardableResult
    mutating func wait(
        for what: String, within limit: Duration, until isRight: (Self) -> Bool
    ) async throws -> Duration {
        let start = ContinuousClock.now
        while true {
            try catchUp()
            let passed = start.duration(to: .now)
            if isRight(self) { return passed }
            guard passed < limit else { throw process.missed("\(what) was not so within \(limit); \(summary)") }
            await process.waitForLines(beyond: read, within: limit - passed)
        }
    }
}

/// The events of a running `discoverd browse --json`.
struct BrowseLog: ProcessLog {
    struct Line: Decodable {
        var event: String
        var state: String?
        var reason: String?
        var service: Service?
    }

    struct Service: Decodable, Equatable {
        struct Endpoint: Decodable, Equatable, Hashable {
            var address: String
            var port: Int
        }

        var name: String
        var state: String?
        var host: String?
        var port: Int?
        var interfaces: [String]
        var endpoints: [Endpoint]?

        var addresses: Set<String> { Set((endpoints ?? []).map(\.address)) }
    }

    let process: LabProcess
    /// Services that are present now.
    private(set) var present: [String: Service] = [:]
    private(set) var lines: [Line] = []
    private(set) var read = 0

    init(_ process: LabProcess) { self.process = process }

    var names: Set<String> { Set(present.keys) }
    var isSettled: Bool { lines.contains { $0.event == "settled" } }

    func count(_ event: String) -> Int { lines.count { $0.event == event } }

    mutating func catchUp() throws {
        let all = process.lines()
        for text in all[read...] {
            let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
            lines.append(line)
            guard let service = line.service else { continue }
            present[service.name] = line.event == "removed" ? nil : service
        }
        read = all.count
    }

    var summary: String {
        "\(present.count) present, added \(count("added")), updated \(count("updated")), removed \(count("removed"))"
    }
}
