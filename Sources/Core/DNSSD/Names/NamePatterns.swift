/// Selects service names by shell patterns: `Printer*` includes, `!*private*` excludes. Without patterns, all are
/// selected.
public struct NamePatterns: Hashable, Sendable {
    /// The patterns as given.
    public let patterns: [String]
    private let filter: InterfaceFilter

    /// The patterns that select every name.
    public static let all = NamePatterns()

    private init() {
        patterns = []
        filter = .all
    }

    /// Reads patterns with the syntax of `InterfaceFilter`.
    /// - Throws: `.invalidServiceName` if a pattern is empty, longer than 64 bytes or malformed, and if there are more
    ///   than 64 patterns.
    public init(_ patterns: [String]) throws(DiscoveryError) {
        self.patterns = patterns
        filter = try InterfaceFilter(patterns, of: "name", .invalidServiceName)
    }

    /// Returns whether the patterns select a name.
    public func allows(_ name: ServiceName) -> Bool { filter.allows(name.text) }
}
