/// Which interfaces to use, by shell patterns: `en*` takes, `!docker*` leaves out. Without patterns: all.
public struct InterfaceFilter: Hashable, Sendable {
    /// The patterns as they were given.
    public let patterns: [String]

    /// All interfaces.
    public static let all = InterfaceFilter(unchecked: [])

    init(unchecked patterns: [String]) { self.patterns = patterns }
}
