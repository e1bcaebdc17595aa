internal import DNSSD

/// What is wrong in a configuration, and where.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the file or directory, as given.
    public let file: String
    /// The line, from 1; nil for the whole file.
    public let line: Int?
    /// A sentence for people, safe for a terminal.
    public let reason: String
    /// The other errors, ordered by file and line; none of them has others.
    public internal(set) var others: [ConfigurationError] = []

    /// `/etc/discoverd/discoverd.yaml:7: unknown key "prot"; …`, and a line for each of the others.
    public var description: String { lines.joined(separator: "\n") }

    /// In one line: the first error, and how many more there are.
    public var summary: String { others.isEmpty ? own : "\(own) (and \(others.count) more)" }

    /// All errors, each with its file and line.
    public var lines: [String] { [own] + others.map(\.own) }

    private var own: String {
        let place = line.map { "\(file.escapedForTerminal):\($0)" } ?? file.escapedForTerminal
        return "\(place): \(reason)"
    }
}

/// Collects errors while a configuration is read, so that one run reports them all. For use by one thread.
final class ConfigurationFaults {
    /// More than anyone fixes in one go.
    static let limit = 100

    private(set) var all: [ConfigurationError] = []
    /// What is valid, and hardly meant: lines, safe for a terminal.
    private(set) var doubts: [String] = []

    func doubt(_ line: String) { if doubts.count < Self.limit { doubts.append(line) } }

    func note(_ error: ConfigurationError) {
        if all.count < Self.limit, !all.contains(error) { all.append(error) }
    }

    /// The result of `body`; nil if it fails, which is recorded.
    @discardableResult
    func reading<Result>(_ body: () throws(ConfigurationError) -> Result) -> Result? {
        do { return try body() } catch {
            note(error)
            return nil
        }
    }

    /// - Throws: all errors as one, ordered by file and line.
    func check() throws(ConfigurationError) {
        let sorted = all.map(\.file).uniqued().flatMap { file in
            all.filter { $0.file == file }.sorted { ($0.line ?? 0) < ($1.line ?? 0) }
        }
        guard var first = sorted.first else { return }
        first.others = Array(sorted.dropFirst())
        throw first
    }
}
