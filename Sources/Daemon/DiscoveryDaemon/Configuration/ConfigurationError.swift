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

    /// Creates an error; `reason` must be safe for a terminal.
    public init(file: String, line: Int?, reason: String) {
        self.file = file
        self.line = line
        self.reason = reason
    }

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
