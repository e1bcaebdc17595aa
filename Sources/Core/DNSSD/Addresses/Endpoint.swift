/// One place where a service can be dialled: an address, a port, and the interface on which they were learned.
public struct Endpoint: Hashable, Sendable {
    /// The address; a link-local one has its scope.
    public let address: IPAddress
    /// The port.
    public let port: Port
    /// The interface on which the service was seen with this address; nil if a DNS server named it.
    public let interface: NetworkInterface?
    private let shared: Shared<ServiceTarget>?

    /// Creates an endpoint.
    public init(address: IPAddress, port: Port, interface: NetworkInterface?, target: ServiceTarget? = nil) {
        (self.address, self.port, self.interface) = (address, port, interface)
        shared = target.map { Shared($0) }
    }

    /// The SRV record that it comes from; nil if the service has only one, as nearly always.
    public var target: ServiceTarget? { shared?.value }
}

/// One of several SRV records of a service (RFC 2782).
public struct ServiceTarget: Hashable, Sendable {
    /// The host.
    public let host: HostName
    /// The priority; lower values are tried first.
    public let priority: UInt16
    /// How often the target is tried first among those of its priority.
    public let weight: UInt16

    /// Creates a target.
    public init(host: HostName, priority: UInt16, weight: UInt16) {
        (self.host, self.priority, self.weight) = (host, priority, weight)
    }
}

extension Endpoint {
    /// The address in the form for dialling: `fe80::1%eth0` if it is link-local, otherwise plain. The interface's name
    /// is not escaped.
    public var addressText: String { address.text(scopedTo: interface) }
}

extension Endpoint: CustomStringConvertible {
    /// The endpoint as text, such as `10.0.0.7:9000` or `[fe80::1%eth0]:9000`; safe for a terminal.
    public var description: String {
        let address = addressText.escapedForTerminal
        return self.address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}

extension Endpoint: Comparable {
    /// Orders by family, address, port and interface; endpoints without an interface come first.
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

/// A TCP or UDP port that can be connected to: 1 to 65535.
public struct Port: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number: 1 to 65535.
    public let rawValue: UInt16

    /// Creates a port; nil for 0, with which an SRV record holds a name without offering a service (RFC 6763 §8).
    public init?(rawValue: UInt16) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }

    /// Creates a port from a number.
    /// - Throws: `.invalidPort` unless `number` is in 1 to 65535.
    public init(_ number: Int) throws(DiscoveryError) {
        guard let raw = UInt16(exactly: number), raw != 0 else {
            throw DiscoveryError(.invalidPort, "port \(number) is not in 1 to 65535")
        }
        self.rawValue = raw
    }

    /// Orders by number.
    public static func < (one: Port, other: Port) -> Bool { one.rawValue < other.rawValue }

    /// The number in decimal.
    public var description: String { String(rawValue) }
}
