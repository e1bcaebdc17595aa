/// One service on the network, with all its interfaces and addresses.
public struct DiscoveredService: Hashable, Sendable {
    /// How much is known of a service, and whether it can be reached.
    public enum State: String, Hashable, Sendable {
        /// The service was seen, but has not been resolved or is not to be.
        case found
        /// Host, port, TXT and addresses are known.
        case resolved
        /// The name is held but nothing is offered: the SRV port is 0 (RFC 6763 §8).
        case unavailable
        /// The service is announced but does not answer.
        case unreachable
    }

    /// The service's identity.
    public let instance: ServiceInstance
    /// The interfaces on which it was seen, sorted; empty for a service from a DNS server.
    public var interfaces: [NetworkInterface]
    /// The subtype labels under which it was seen; it may have others.
    public var subtypes: [String]
    /// How much is known.
    public var state: State
    /// The host that offers it; nil if not resolved.
    public var host: HostName?
    /// The port; nil if not resolved or not offered.
    public var port: Port?
    /// Every place where it can be dialled.
    public var endpoints: [Endpoint]
    /// Whether this machine publishes it.
    public var isOwn: Bool
    /// What was learned of it apart from where it is.
    package var answer: ServiceAnswer

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
        isOwn: Bool = false,
        isAuthenticated: Bool = false,
        withheld: String? = nil
    ) {
        self.instance = instance
        self.interfaces = interfaces
        self.subtypes = subtypes
        self.state = state
        self.host = host
        self.port = port
        self.endpoints = endpoints
        self.isOwn = isOwn
        answer = ServiceAnswer(txt: txt, isAuthenticated: isAuthenticated, withheld: withheld)
    }
}
