public import DNSSD
internal import Discovery
internal import Glibc
internal import System

/// Interfaces by name. Names travel over the control socket, indices do not: whoever dials needs the index that the
/// interface has for it, which in another network namespace is another one.
public final class InterfaceNames: Sendable {
    private static let limit = 256

    private let known = Locked<[String: NetworkInterface]>([:])

    /// Knows nothing yet.
    public init() {}

    /// The interface of this name; with index 0 when this process has none.
    public func interface(_ name: String) -> NetworkInterface {
        if let interface = known.withLock({ $0[name] }) { return interface }
        let interface = NetworkInterface(index: unsafe if_nametoindex(name), name: name)
        known.withLock { known in
            if known.count < Self.limit { known[name] = interface }
        }
        return interface
    }

    /// Indices are reused after an interface is made anew: ask the system again.
    public func forget() { known.withLock { $0 = [:] } }
}
