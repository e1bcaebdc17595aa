/// A service to publish.
public struct OfferedService: Hashable, Sendable {
    /// The wanted name; a conflict may change the published one (RFC 6763 Appendix D).
    public var name: ServiceName
    /// The type, without a subtype.
    public var type: ServiceType
    /// The domain.
    public var domain: Domain
    /// The port on which the service listens.
    public var port: Port
    /// The TXT record.
    public var txt: TXTRecord
    /// Subtype labels with their underscore, such as `_printer`.
    public var subtypes: [String]
    /// The interfaces on which to publish.
    public var interfaces: InterfaceFilter
    /// The only IP family to publish over; nil for both.
    public var family: IPAddress.Family?
    /// The machine that the service is on; nil for this one.
    public var host: OfferedHost?
    /// Of this only the addresses of `host` are published; type, port and TXT record say nothing.
    public internal(set) var isAddressRecord = false

    /// Creates a description from checked parts; a subtype of `type` is left out.
    public init(
        name: ServiceName,
        type: ServiceType,
        domain: Domain = .local,
        port: Port,
        txt: TXTRecord = TXTRecord(),
        subtypes: [String] = [],
        interfaces: InterfaceFilter = .all,
        family: IPAddress.Family? = nil,
        host: OfferedHost? = nil
    ) {
        self.name = name
        self.type = type.base
        (self.domain, self.port, self.txt, self.subtypes) = (domain, port, txt, subtypes)
        (self.interfaces, self.family, self.host) = (interfaces, family, host)
    }
}

/// The unavailable name `Service`, which would clash with ServiceLifecycle's protocol.
@available(*, unavailable, renamed: "OfferedService")
public typealias Service = OfferedService

extension OfferedService {
    /// Creates a description from text. A subtype in `type` becomes one of `subtypes`, whose underscores may be left
    /// out.
    /// - Throws: the error of the first part that breaks a rule.
    public init(
        name: String,
        type: String,
        domain: String = "local",
        port: Int,
        txt: TXTRecord = TXTRecord(),
        subtypes: [String] = []
    ) throws(DiscoveryError) {
        let type = try ServiceType(type)
        var labels: [String] = []
        for subtype in [type.subtype].compactMap({ $0 }) + subtypes {
            let label = try ServiceType.validatedSubtype(subtype)
            if !labels.contains(where: { $0.isSameDNSLabel(as: label) }) { labels.append(label) }
        }
        self.init(
            name: try ServiceName(name),
            type: type,
            domain: try Domain(domain),
            port: try Port(port),
            txt: txt,
            subtypes: labels
        )
    }

    /// The identity under the wanted name.
    public var instance: ServiceInstance { ServiceInstance(name: name, type: type, domain: domain) }

    /// Why the service cannot be in a zone: a label `*` is a wildcard there, and answers for every name that is absent
    /// (RFC 4592). Nil if it can, and on the link, which has no wildcards.
    package var wildcardFault: DiscoveryError? {
        guard !domain.isWithin(.local) else { return nil }
        if let fault = domain.wildcardFault { return fault }
        guard name.text == "*" || subtypes.contains("*") else { return nil }
        return DiscoveryError(
            .invalidServiceName,
            "* is a wildcard in \(domain): every name that is absent there would lead to a service of this name (RFC 4592)"
        )
    }
}

extension OfferedService {
    /// The addresses of another host, without a service: a record for each under its name, and none that leads from the address to the name.
    /// Its name is the whole host name, and no other is taken where that is another's.
    /// - Throws: `.invalidAddress` if there are none.
    public init(
        addressesOf host: OfferedHost, interfaces: InterfaceFilter = .all, family: IPAddress.Family? = nil
    ) throws(DiscoveryError) {
        guard !host.addresses.isEmpty else {
            throw DiscoveryError(.invalidAddress, "there is no address to publish for \(host.name)")
        }
        self.init(
            // What no service has: the discard port, and a type of its own.
            name: ServiceName(observed: host.name.text), type: try ServiceType("_address._udp"), port: try Port(9),
            interfaces: interfaces, family: family, host: host)
        isAddressRecord = true
    }
}

/// The machine that a service to publish is on, where that is not this one: a printer, say, that cannot speak for itself.
public struct OfferedHost: Hashable, Sendable {
    /// The most addresses of a host.
    public static let maximumAddressCount = 16

    /// The host's name, to which the service's SRV record points.
    public let name: HostName
    /// The addresses that are published for the name, without names for the addresses; none where the host, or another, answers for it.
    public let addresses: [IPAddress]

    /// Checks a host.
    /// - Throws: `.invalidHostName` if there are addresses and the name is not of `local`, as only there this machine may answer for it (RFC
    ///   6762 §3); `.invalidAddress` for one that no other host can reach, as `127.0.0.1`; `.limitExceeded` for more than 16.
    public init(name: HostName, addresses: [IPAddress] = []) throws(DiscoveryError) {
        guard addresses.count <= Self.maximumAddressCount else {
            throw DiscoveryError(.limitExceeded, "a host has at most \(Self.maximumAddressCount) addresses here")
        }
        guard addresses.isEmpty || name.isLocal else {
            throw DiscoveryError(.invalidHostName, "\(name) is not of \"local\": no address can be published for it")
        }
        for address in addresses where !address.isOfOneHost {
            throw DiscoveryError(.invalidAddress, "\(address) is no address at which other hosts find one")
        }
        self.name = name
        self.addresses = addresses
    }
}

extension HostName {
    /// Whether the name is one label and `local`.
    fileprivate var isLocal: Bool {
        guard let labels = DNSName(observed: text)?.labels else { return false }
        return labels.count == 2 && labels[1].lowercased() == "local"
    }
}

extension IPAddress {
    /// An address of one interface, as others see it.
    fileprivate var isOfOneHost: Bool { !(isUnspecified || isLoopback || isMulticast || isBroadcast || isIPv4Mapped) }
}
