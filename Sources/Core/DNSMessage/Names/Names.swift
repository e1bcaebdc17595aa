package import DNSSD

// The names of DNS-SD on the wire, and back.

extension DomainName {
    /// Where services of a type are listed (RFC 6763 §4); nil when that is longer than a name can be.
    package init?(listing type: ServiceType, in domain: Domain) {
        guard let name = try? DomainName(labels: type.labels + domain.labels) else { return nil }
        self = name
    }

    /// Whose records describe a service (RFC 6763 §5).
    package init?(_ instance: ServiceInstance) {
        let label = Array(instance.name.text.utf8)
        guard let name = try? DomainName(labels: [label] + instance.type.labels + instance.domain.labels) else {
            return nil
        }
        self = name
    }

    /// A name of DNS-SD's own: `_services._dns-sd._udp` and its like, in a domain.
    package init?(_ labels: [String], in domain: Domain) {
        guard let name = try? DomainName(labels: labels.map { Array($0.utf8) } + domain.labels) else { return nil }
        self = name
    }

    /// The first label of a name that has exactly one more than `other`, and the same behind it.
    package func label(below other: DomainName) -> ArraySlice<UInt8>? {
        let length = Int(wire[0])
        guard length > 0, wire.count == other.wire.count + length + 1, parent == other else { return nil }
        return wire[1...length]
    }
}

extension IPAddress {
    /// - Parameter scope: the interface's index, for addresses that mean something there alone.
    package init?(_ data: RecordData, scope: UInt32) {
        switch data {
        case .a(let bits): self = .v4(IPv4Address(bits: bits))
        case .aaaa(let high, let low):
            let address = IPv6Address(high: high, low: low)
            self = .v6(address, scope: address.isLinkLocal ? scope : 0)
        default: return nil
        }
    }
}

extension ServiceType {
    /// A type as it is listed: without a subtype, in the domain that was asked (RFC 6763 §9).
    package init?(listed name: DomainName, in domain: Domain) {
        let labels = name.labels
        guard labels.count > 2, Domain(labels: labels.dropFirst(2)) == domain else { return nil }
        self.init(labels: labels.prefix(2))
    }
}
