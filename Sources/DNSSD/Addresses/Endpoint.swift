/// One place where a service can be dialled: address, port and where it was learned.
public struct Endpoint: Hashable, Sendable {
    /// The address, with scope where it needs one.
    public let address: IPAddress
    /// The port.
    public let port: Port
    /// The interface on which the service was seen with this address; nil when a DNS server said so, which is on no link.
    public let interface: NetworkInterface?
    /// Which of several SRV records it comes from; nil when there is one, as nearly always.
    public let target: ServiceTarget?

    /// Creates an endpoint.
    public init(address: IPAddress, port: Port, interface: NetworkInterface?, target: ServiceTarget? = nil) {
        self.address = address
        self.port = port
        self.interface = interface
        self.target = target
    }
}

/// One of several SRV records of a service (RFC 2782).
public struct ServiceTarget: Hashable, Sendable {
    /// The host.
    public let host: HostName
    /// Less is tried first.
    public let priority: UInt16
    /// Among those of one priority, how often it is tried first.
    public let weight: UInt16

    /// Creates a target.
    public init(host: HostName, priority: UInt16, weight: UInt16) {
        self.host = host
        self.priority = priority
        self.weight = weight
    }
}

extension Endpoint {
    /// The address as it can be dialled: `fe80::1%eth0` when link-local, otherwise plain. The interface's name is not
    /// escaped.
    public var addressText: String { address.text(scopedTo: interface) }
}

extension Endpoint: CustomStringConvertible {
    /// `10.0.0.7:9000` or `[fe80::1%eth0]:9000`; safe for a terminal.
    public var description: String {
        let address = addressText.escapedForTerminal
        return self.address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}

extension Endpoint: Comparable {
    /// By family, address, port and interface, those of no interface first.
    public static func < (one: Endpoint, other: Endpoint) -> Bool {
        guard (one.address, one.port) == (other.address, other.port) else {
            return (one.address, one.port) < (other.address, other.port)
        }
        guard let mine = one.interface, let theirs = other.interface else {
            return one.interface == nil && other.interface != nil
        }
        return mine < theirs
    }
}
