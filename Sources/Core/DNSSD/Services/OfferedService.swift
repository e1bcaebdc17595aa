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
    /// Of this only the addresses of `host` are published, which may be this machine's; type, port and TXT record say nothing.
    public internal(set) var isAddressRecord = false
    /// The host whose service this is, where it is published for that one: on a link where that host offers it itself, this one gives way.
    package var original: HostName?

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
        var seen: Set<[UInt8]> = []
        for subtype in [type.subtype].compactMap({ $0 }) + subtypes {
            let label = try ServiceType.validatedSubtype(subtype)
            if seen.insert(label.utf8.map(\.asciiLowercased)).inserted { labels.append(label) }
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
