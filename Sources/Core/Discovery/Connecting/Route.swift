public import DNSSD

/// Where the kernel sends packets to an address if the program names no interface.
public enum Route: Hashable, Sendable {
    /// The address is this machine's own (RTN_LOCAL in rtnetlink(7)).
    case own
    /// Packets leave through the interface with this index; `isDirect` if there is no router in between.
    case leaves(by: UInt32, isDirect: Bool)
}

/// Looks up the kernel's routes: `SystemRoutes` in programs, a table in tests.
public protocol RouteLookup: Sendable {
    /// Returns the route to an address; nil if there is none or it is not known.
    func route(to address: IPAddress) -> Route?
}
