/// Which service names are meant, by shell patterns: `Printer*` takes, `!*private*` leaves out. Without patterns: all.
public struct NamePatterns: Hashable, Sendable {
    /// The patterns as they were given.
    public let patterns: [String]
    private let filter: InterfaceFilter

    /// Every name.
    public static let all = NamePatterns()

    private init() {
        patterns = []
        filter = .all
    }

    /// Reads patterns as `InterfaceFilter` has them.
    /// - Throws: `.invalidServiceName` for a pattern that is empty, over 64 bytes, or malformed, and for more than 64 patterns.
    public init(_ patterns: [String]) throws(DiscoveryError) {
        self.patterns = patterns
        do throws(DiscoveryError) {
            filter = try InterfaceFilter(patterns)
        } catch {
            throw DiscoveryError(
                .invalidServiceName, error.message.replacing("interface pattern", with: "pattern of names"))
        }
    }

    /// Whether a name is meant.
    public func allows(_ name: ServiceName) -> Bool { filter.allows(name.value) }
}
