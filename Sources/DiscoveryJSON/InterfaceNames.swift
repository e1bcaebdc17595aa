public import DNSSD
internal import DiscoverySystem
internal import Libc

/// Interfaces by name. JSON carries names, not indices: dialling needs the index that the interface has in this process's network namespace,
/// which may differ from the writer's.
public final class InterfaceNames: Sendable {
    private static let limit = 256

    private let known = Locked<[String: NetworkInterface]>([:])

    /// Creates an empty cache.
    public init() {}

    /// The interface of this name; its index is 0 if this process has none.
    public func interface(_ name: String) -> NetworkInterface {
        if let interface = known.withLock({ $0[name] }) { return interface }
        let interface = NetworkInterface(index: unsafe if_nametoindex(name), name: name)
        known.withLock { known in
            if known.count < Self.limit { known[name] = interface }
        }
        return interface
    }

    /// Asks the system again from now on; indices are reused when an interface is created again.
    public func forget() { known.withLock { $0 = [:] } }
}
