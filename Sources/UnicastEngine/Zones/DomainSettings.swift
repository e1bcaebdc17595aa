public import DNSSD

/// What is known of one domain beforehand: who serves it, with which key, and how services are published there. It counts for the names
/// below the domain, too.
public struct DomainSettings: Hashable, Sendable {
    /// The domain.
    public var domain: Domain
    /// The server that takes updates and answers questions; nil: the zone's primary server takes updates, and the host's resolver answers.
    public var server: ServerName?
    /// The key that signs updates; nil: nothing can be published.
    public var key: TSIGKey?
    /// How long records hold, for every publisher of the zone alike (docs/beyond-link.md); 1 s to 1 day.
    public var ttl: Duration
    /// How long what was published outlives a publisher that is gone; 10 s to 7 days.
    public var lease: Duration
    /// The first label of this host's name in the domain; nil: that of the machine's host name.
    public var host: String?
    /// This host's addresses, in the place of those of the interface from which the server is reached.
    public var addresses: [IPAddress]

    /// Settings with their defaults: a TTL of 60 s, a lease of 2 h.
    public init(
        _ domain: Domain, server: ServerName? = nil, key: TSIGKey? = nil, ttl: Duration = .seconds(60),
        lease: Duration = .seconds(7200), host: String? = nil, addresses: [IPAddress] = []
    ) {
        self.domain = domain
        self.server = server
        self.key = key
        self.ttl = ttl
        self.lease = lease
        self.host = host
        self.addresses = addresses
    }
}

/// A DNS server as a person names it: an address or a host name, perhaps with a port.
public struct ServerName: Hashable, Sendable {
    /// What it is reached by.
    public enum Host: Hashable, Sendable {
        /// An address.
        case address(IPAddress)
        /// A name, looked up with the host's resolver.
        case name(HostName)
    }

    /// What it is reached by.
    public var host: Host
    /// UDP and TCP port.
    public var port: Port

    /// A server; 53 is DNS's port (RFC 1035 §4.2).
    public init(_ host: Host, port: Port) {
        self.host = host
        self.port = port
    }
}
