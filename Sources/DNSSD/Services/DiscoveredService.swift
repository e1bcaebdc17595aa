/// One service of the network, however many interfaces, protocols and addresses it was seen on.
public struct DiscoveredService: Hashable, Sendable {
    /// How much is known.
    public enum State: String, Hashable, Sendable {
        /// Seen, not resolved (or not asked for).
        case found
        /// Host, port, TXT and addresses are known.
        case resolved
        /// The name is held but nothing is offered: SRV port 0 (RFC 6763 §8).
        case unavailable
        /// It is announced but does not answer.
        case unreachable
    }

    /// Its identity.
    public let instance: ServiceInstance
    /// The interfaces on which it was seen, sorted; none for a service from a DNS server.
    public var interfaces: [NetworkInterface]
    /// Subtype labels under which it was seen; not all that it has.
    public var subtypes: [String]
    /// How much is known.
    public var state: State
    /// The host that offers it.
    public var host: HostName?
    /// The port; nil when not resolved, or when the service is not offered.
    public var port: Port?
    /// What it says about itself.
    public var txt: TXTRecord
    /// Every place where it can be dialled.
    public var endpoints: [Endpoint]
    /// This machine publishes it.
    public var isOwn: Bool

    /// Creates a value.
    public init(
        instance: ServiceInstance,
        interfaces: [NetworkInterface] = [],
        subtypes: [String] = [],
        state: State = .found,
        host: HostName? = nil,
        port: Port? = nil,
        txt: TXTRecord = TXTRecord(),
        endpoints: [Endpoint] = [],
        isOwn: Bool = false
    ) {
        self.instance = instance
        self.interfaces = interfaces
        self.subtypes = subtypes
        self.state = state
        self.host = host
        self.port = port
        self.txt = txt
        self.endpoints = endpoints
        self.isOwn = isOwn
    }
}
