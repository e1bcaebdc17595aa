import Foundation

/// What `PublishMany` or `discoverd publish --json` has reported about its publications.
struct PublishLog: ProcessLog {
    struct Line: Decodable {
        var wanted: String
        var name: String
        var state: String
        var reason: String?
    }

    let process: LabProcess
    /// The newest line for each publication, by its wanted name.
    private(set) var latest: [String: Line] = [:]
    private(set) var lines: [Line] = []
    private(set) var read = 0

    init(_ process: LabProcess) { self.process = process }

    /// The names established now.
    var established: Set<String> { Set(latest.values.filter { $0.state == "established" }.map(\.name)) }

    var summary: String { "\(established.count) established" }

    mutating func catchUp() throws {
        let all = process.lines()
        for text in all[read...] {
            let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
            lines.append(line)
            latest[line.wanted] = line
        }
        read = all.count
    }

    /// Waits until exactly these names are established.
    @discardableResult
    mutating func wait(forEstablished names: Set<String>, within limit: Duration) async throws -> Duration {
        try await wait(for: "\(names.count) established", within: limit) { $0.established == names }
    }
}
