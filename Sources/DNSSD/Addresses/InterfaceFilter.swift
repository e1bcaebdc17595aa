/// Which interfaces to use, by shell patterns: `en*` takes, `!docker*` leaves out. Without patterns: all.
public struct InterfaceFilter: Hashable, Sendable {
    /// The longest pattern in bytes.
    public static let maximumPatternLength = 64
    /// The most patterns.
    public static let maximumPatternCount = 64

    /// The patterns as they were given.
    public let patterns: [String]
    private let included: [Glob]
    private let excluded: [Glob]

    /// All interfaces.
    public static let all = InterfaceFilter()

    private init() {
        patterns = []
        included = []
        excluded = []
    }

    /// Reads patterns of `*`, `?`, `[a-z]` and `[!a-z]`; one that begins with `!` excludes.
    /// - Throws: `.invalidInterface` for a pattern that is empty, over 64 bytes, or has an unclosed `[` or a backward
    ///   range, and for more than 64 patterns.
    public init(_ patterns: [String]) throws(DiscoveryError) {
        guard patterns.count <= Self.maximumPatternCount else {
            throw DiscoveryError(
                .invalidInterface,
                "\(patterns.count) interface patterns, at most \(Self.maximumPatternCount) are allowed"
            )
        }
        var included: [Glob] = []
        var excluded: [Glob] = []
        for pattern in patterns {
            do throws(BrokenRule) {
                guard pattern.utf8.count <= Self.maximumPatternLength else {
                    throw BrokenRule("the interface pattern is longer than \(Self.maximumPatternLength) bytes")
                }
                let excludes = pattern.unicodeScalars.first == "!"
                let glob = excludes ? String(pattern.unicodeScalars.dropFirst()) : pattern
                guard !glob.isEmpty else { throw BrokenRule("the interface pattern is empty") }
                if excludes { excluded.append(try Glob(glob)) } else { included.append(try Glob(glob)) }
            } catch {
                throw DiscoveryError(.invalidInterface, pattern, error)
            }
        }
        self.patterns = patterns
        self.included = included
        self.excluded = excluded
    }

    /// Whether an interface of this name is to be used: some pattern takes it, or none is there that takes, and none
    /// excludes it.
    public func allows(_ name: String) -> Bool {
        (included.isEmpty || included.contains { $0.matches(name) }) && !excluded.contains { $0.matches(name) }
    }
}
