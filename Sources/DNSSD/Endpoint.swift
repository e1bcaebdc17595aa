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
