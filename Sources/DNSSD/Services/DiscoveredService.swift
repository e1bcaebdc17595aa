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
    /// The TXT record; empty if not resolved.
    public var txt: TXTRecord
    /// Every place where it can be dialled.
    public var endpoints: [Endpoint]
    /// Whether this machine publishes it.
    public var isOwn: Bool
    /// Whether DNSSEC vouches for its host, port, TXT record and addresses, according to a validating resolver that is
    /// on this machine or that /etc/resolv.conf trusts (`trust-ad`).
    public var isAuthenticated: Bool
    /// Why it has no address, for people, if a DNS resolver withholds its addresses; otherwise nil.
    public var withheld: String?

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
        self.txt = txt
        self.endpoints = endpoints
        self.isOwn = isOwn
        self.isAuthenticated = isAuthenticated
        self.withheld = withheld
    }
}
