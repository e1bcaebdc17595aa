/// Selects interfaces by shell patterns: `en*` includes, `!docker*` excludes. Without patterns, all are selected.
public struct InterfaceFilter: Hashable, Sendable {
    /// The longest pattern in bytes.
    public static let maximumPatternLength = 64
    /// The largest number of patterns.
    public static let maximumPatternCount = 64

    /// The patterns as given.
    public let patterns: [String]
    private let included: [Glob]
    private let excluded: [Glob]

    /// The filter that selects all interfaces.
    public static let all = InterfaceFilter()

    private init() {
        patterns = []
        included = []
        excluded = []
    }

    /// Reads patterns of `*`, `?`, `[a-z]` and `[!a-z]`; a pattern that begins with `!` excludes.
    /// - Throws: `.invalidInterface` if a pattern is empty, longer than 64 bytes, or has an unclosed `[` or a backward
    ///   range, and if there are more than 64 patterns.
    public init(_ patterns: [String]) throws(DiscoveryError) {
        try self.init(patterns, of: "interface", .invalidInterface)
    }

    /// Reads patterns of other things.
    /// - Parameters:
    ///   - patterns: the patterns.
    ///   - subject: the things, for the message of an error.
    ///   - code: the code of an error.
    init(_ patterns: [String], of subject: String, _ code: DiscoveryError.Code) throws(DiscoveryError) {
        guard patterns.count <= Self.maximumPatternCount else {
            throw DiscoveryError(
                code,
                "\(patterns.count) \(subject) patterns, at most \(Self.maximumPatternCount) are allowed"
            )
        }
        var included: [Glob] = []
        var excluded: [Glob] = []
        for pattern in patterns {
            do throws(BrokenRule) {
                guard pattern.utf8.count <= Self.maximumPatternLength else {
                    throw BrokenRule("the \(subject) pattern is longer than \(Self.maximumPatternLength) bytes")
                }
                let excludes = pattern.unicodeScalars.first == "!"
                let glob = excludes ? String(pattern.unicodeScalars.dropFirst()) : pattern
                guard !glob.isEmpty else { throw BrokenRule("the \(subject) pattern is empty") }
                if excludes { excluded.append(try Glob(glob)) } else { included.append(try Glob(glob)) }
            } catch {
                throw DiscoveryError(code, pattern, error)
            }
        }
        self.patterns = patterns
        self.included = included
        self.excluded = excluded
    }

    /// Returns whether the filter selects the interface with this name: no pattern excludes it, and a pattern includes
    /// it or there is none that includes.
    public func allows(_ name: String) -> Bool {
        (included.isEmpty || included.contains { $0.matches(name) }) && !excluded.contains { $0.matches(name) }
    }
}
