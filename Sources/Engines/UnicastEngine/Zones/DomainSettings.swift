package import DNSMessage
public import DNSSD

/// The settings of one domain and the names below it: its server, its key, and how services are published there.
public struct DomainSettings: Hashable, Sendable {
    /// The domain.
    public var domain: Domain
    /// The server for updates and questions; nil for the zone's primary server and the host's resolver, respectively.
    public var server: ServerName?
    /// The key that signs updates; nil if nothing is published.
    public var key: TSIGKey?
    /// The TTL of records, which must be the same for every publisher in the zone (docs/beyond-link.md): 1 s to 1 day.
    public var ttl: Duration
    /// How long services outlive a publisher that is gone: 10 s to 7 days.
    public var lease: Duration
    /// The first label of this host's name in the domain; nil for that of the machine's host name.
    public var host: String?
    /// This host's addresses; if empty, those of the interface from which the server is reached.
    public var addresses: [IPAddress]

    /// Creates settings; the defaults are a TTL of 60 s and a lease of 2 h. Values outside their ranges count as the
    /// nearest bound.
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

    /// Whether at most the key differs.
    package func equalsButForKey(_ other: DomainSettings) -> Bool {
        var same = other
        same.key = key
        return same == self
    }
}

extension [DomainSettings] {
    /// The settings that count for a name: those of the longest domain that contains it.
    package func covering(_ name: DomainName) -> DomainSettings? {
        filter { setting in (try? DomainName(labels: setting.domain.labels)).map { name.isWithin($0) } ?? false }
            .max { $0.domain.labels.count < $1.domain.labels.count }
    }

    /// The settings that count for a domain.
    package func covering(_ domain: Domain) -> DomainSettings? {
        filter { domain.isWithin($0.domain) }.max { $0.domain.text.utf8.count < $1.domain.text.utf8.count }
    }
}

/// A DNS server as a person names it: an address or a host name, and a port.
public struct ServerName: Hashable, Sendable {
    /// An address or a host name.
    public enum Host: Hashable, Sendable {
        /// An address.
        case address(IPAddress)
        /// A name, looked up with the host's resolver.
        case name(HostName)
    }

    /// The server's address or host name.
    public var host: Host
    /// The server's UDP and TCP port.
    public var port: Port

    /// Creates a server's name; the port of DNS is 53 (RFC 1035 §4.2).
    public init(_ host: Host, port: Port) {
        self.host = host
        self.port = port
    }
}

extension ServerName {
    /// Reads `10.0.0.53`, `ns.example.org`, `ns.example.org:5353`, `fd00::53` or `[fd00::53]:5353`; the port defaults
    /// to 53.
    /// - Throws: `.invalidHostName` or `.invalidPort`.
    public init(_ text: String) throws(DiscoveryError) {
        let standard = try Port(53)
        if let address = IPAddress(text) {
            self.init(.address(address), port: standard)
            return
        }
        let (host, port) = try Self.split(text)
        let number = try port.map { text throws(DiscoveryError) in try Port(Int(text) ?? 0) } ?? standard
        if let address = IPAddress(host) {
            self.init(.address(address), port: number)
        } else {
            self.init(.name(try HostName(host)), port: number)
        }
    }

    private static func split(_ text: String) throws(DiscoveryError) -> (host: String, port: String?) {
        if text.hasPrefix("["), let end = text.lastIndex(of: "]") {
            let host = String(text[..<end].dropFirst())
            let rest = text[text.index(after: end)...]
            guard IPAddress(host) != nil, rest.isEmpty || rest.hasPrefix(":") else {
                throw DiscoveryError(
                    .invalidHostName, "\(text.quotedForMessage): no IPv6 address in brackets, as [fd00::53]:53")
            }
            return (host, rest.isEmpty ? nil : String(rest.dropFirst()))
        }
        guard let colon = text.firstIndex(of: ":") else { return (text, nil) }
        guard !text.hasPrefix("["), colon == text.lastIndex(of: ":") else {
            throw DiscoveryError(.invalidHostName, "\(text.quotedForMessage): neither an address nor a host name")
        }
        return (String(text[..<colon]), String(text[colon...].dropFirst()))
    }
}

extension ServerName: CustomStringConvertible {
    /// The host, with the port unless it is 53; safe for a terminal.
    public var description: String {
        let host =
            switch host {
            case .address(let address):
                address.family == .ipv6 && port.rawValue != 53 ? "[\(address)]" : "\(address)"
            case .name(let name): "\(name)"
            }
        return port.rawValue == 53 ? host : "\(host):\(port)"
    }
}
