extension OfferedService {
    /// A further name of this machine, without a service: a record for each of its addresses, on each link those that it has there, as they
    /// come and go. Its name is the whole host name, as `wiki.local`; a conflict may change the first label, to `wiki-2`. Its domain is the alias'.
    public init(
        alias host: OfferedAlias, interfaces: InterfaceFilter = .all, family: IPAddress.Family? = nil
    ) throws(DiscoveryError) {
        self.init(
            name: ServiceName(observed: host.name.text), type: try ServiceType("_address._udp"), port: try Port(9),
            interfaces: interfaces, family: family, host: OfferedHost(alias: host))
        domain = host.domain
        isAddressRecord = true
    }

    /// Whether it is a further name of this machine, and no service.
    public var isAlias: Bool { isAddressRecord && host?.isAlias == true }

    /// The machine that it is on, once it has a name.
    package func host(as name: ServiceName) -> OfferedHost? {
        guard isAlias else { return host }
        return HostName(observed: name.text).map { OfferedHost(alias: OfferedAlias(unchecked: $0, in: domain)) }
    }

    /// Why it cannot be on its host: an alias of another domain. Nil if it can.
    package var aliasFault: DiscoveryError? {
        guard let host, host.isAlias, !host.name.isBelow(domain) else { return nil }
        return DiscoveryError(
            .invalidHostName, "\(host.name) is not below \(domain), where it is to be a further name of this machine")
    }

    /// The name to try if one is taken, of a service or an alias.
    package static func name(after taken: ServiceName, ofAlias isAlias: Bool) -> ServiceName {
        guard isAlias, let host = HostName(observed: taken.text) else { return taken.nextAfterCollision() }
        return ServiceName(observed: host.nextAfterCollision().text)
    }
}

/// The machine that a service to publish is on, where that is not this one: a printer, say, that cannot speak for itself.
public struct OfferedHost: Hashable, Sendable {
    /// The most addresses of a host.
    public static let maximumAddressCount = 16

    /// Who says where the host is.
    private enum Place: Hashable, Sendable {
        /// The host itself, or another.
        case elsewhere
        /// These addresses are published for the name, without names for the addresses.
        case at([IPAddress])
        /// Those of this machine are, on each link the ones that it has there.
        case thisMachine
    }

    /// The host's name, to which the service's SRV record points.
    public let name: HostName
    private let place: Place

    /// The addresses that are published for the name, without names for the addresses; none where the host, or another, answers for it, and
    /// none of an alias, whose addresses are this machine's.
    public var addresses: [IPAddress] { if case .at(let addresses) = place { addresses } else { [] } }

    /// Whether it is a further name of this machine.
    public var isAlias: Bool { place == .thisMachine }

    /// Whether this machine answers for the name.
    package var isAnsweredHere: Bool { place != .elsewhere }

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
        place = addresses.isEmpty ? .elsewhere : .at(addresses)
    }

    /// This machine, under a further name.
    public init(alias: OfferedAlias) { (name, place) = (alias.name, .thisMachine) }
}

/// A further name of this machine below its domain, at any depth: `wiki.local`, `shop.wiki.local`, `wiki.example.org`.
public struct OfferedAlias: Hashable, Sendable {
    /// The whole name.
    public let name: HostName
    /// Where it is published: `local`, or a zone.
    public let domain: Domain

    init(unchecked name: HostName, in domain: Domain) { (self.name, self.domain) = (name, domain) }

    /// Reads `wiki`, `shop.wiki` or `wiki.h1.local`; what does not end in `local` is below it.
    /// - Throws: as `init(_:in:)`.
    public init(_ text: String) throws(DiscoveryError) { try self.init(text, in: .local) }

    /// Reads `wiki`, `shop.wiki` or `wiki.example.org`; what does not end in the domain is below it.
    /// - Throws: `.invalidHostName` unless it is a host's name (RFC 1035 §2.3.4) with something before the domain, or if a label begins with
    ///   `_`: those are services' (RFC 6763 §7), and nobody else's would be found. In a zone a label has letters, digits and hyphens, as servers
    ///   take no addresses of others (RFC 1123 §2.1).
    public init(_ text: String, in domain: Domain) throws(DiscoveryError) {
        var name = try HostName(text)
        if !name.isBelow(domain) {
            guard name != HostName(unchecked: domain.text) else {
                throw DiscoveryError(.invalidHostName, "\(domain) is the domain, and no host's name in it")
            }
            guard !name.isBelow(.local) else {
                throw DiscoveryError(.invalidHostName, "\(name) is below local, and not below \(domain)")
            }
            name = try HostName("\(name.text).\(domain.text)")
        }
        let labels = DNSName(observed: name.text)?.labels ?? []
        guard !labels.contains(where: { $0.hasPrefix("_") }) else {
            throw DiscoveryError(.invalidHostName, "\(name): a label that begins with _ is a service's, and no host's")
        }
        guard domain.isWithin(.local) || labels.dropLast(domain.labels.count).allSatisfy(\.isOfHost) else {
            throw DiscoveryError(
                .invalidHostName, "\(name): a host in a zone has letters, digits and hyphens alone (RFC 1123 §2.1)")
        }
        self.init(unchecked: name, in: domain)
    }
}

extension String {
    /// A label that every DNS server takes for a host.
    fileprivate var isOfHost: Bool {
        utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") } && !hasPrefix("-") && !hasSuffix("-")
    }
}

extension HostName {
    /// Whether there is something before a domain.
    fileprivate func isBelow(_ domain: Domain) -> Bool {
        let own = Domain(unchecked: text)
        return own != domain && own.isWithin(domain)
    }

    /// The name to try if this one is taken, as avahi-daemon counts: `wiki.local`, `wiki-2.local`, `wiki-3.local`. No label is longer than
    /// 63 bytes for it, and no name than 255.
    func nextAfterCollision() -> HostName {
        guard let all = DNSName(observed: text), let first = all.labels.first else { return self }
        let digits = first.utf8.reversed().prefix { $0.isASCIIDigit }.count
        let head = first.utf8.dropLast(digits)
        let number = head.last == UInt8(ascii: "-") ? String(first.utf8.suffix(digits)).flatMap { Int($0) } : nil
        let isCounted = number.map { (1..<Int(Int32.max)).contains($0) } ?? false
        let base = isCounted ? String(head.dropLast()) ?? first : first
        let suffix = "-\((isCounted ? number : nil).map { $0 + 1 } ?? 2)"
        let room = min(
            DNSName.maximumLabelLength, DNSName.maximumLength - all.wireLength + first.utf8.count)
        var kept = base
        while kept.utf8.count + suffix.utf8.count > room, !kept.isEmpty { kept.unicodeScalars.removeLast() }
        let label = kept.isEmpty ? String(suffix.dropFirst()) : kept + suffix
        return HostName(labels: ([label] + all.labels.dropFirst()).map { Array($0.utf8) }) ?? self
    }

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
