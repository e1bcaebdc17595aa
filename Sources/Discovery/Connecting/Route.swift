public import DNSSD

/// Where the kernel sends what goes to an address when no interface is named.
public enum Route: Hashable, Sendable {
    /// It is this machine's own (RTN_LOCAL of rtnetlink(7)).
    case own
    /// Out of an interface, by its index; `isDirect` when no router stands between.
    case leaves(by: UInt32, isDirect: Bool)
}

/// Answers where the kernel would send something: the system in the product, a table in tests.
public protocol RouteLookup: Sendable {
    /// The route to an address; nil when there is none, or nothing is known.
    func route(to address: IPAddress) -> Route?
}
