import DNSMessage
package import DNSSD
package import Discovery

/// This host's search domains and networks, which recommend domains to it (RFC 6763 §11).
package struct Surroundings: Hashable, Sendable {
    /// The search domains of /etc/resolv.conf.
    package var searchDomains: [Domain]
    /// The networks of this host's addresses.
    package var networks: [CIDR]

    package init(searchDomains: [Domain], networks: [CIDR]) {
        self.searchDomains = searchDomains
        self.networks = networks
    }

    /// The most search domains, and the most networks, that are asked.
    private static let most = 16

    /// Returns the names that list domains for a purpose.
    func names(for purpose: DomainQuery.Purpose) -> [DomainName] {
        let labels =
            switch purpose {
            case .browsing: ["b", "lb"]
            case .registration: ["r"]
            }
        let domains = searchDomains.filter { $0 != .local }.prefix(Self.most).map(\.labels)
        let reverse = networks.filter { $0.prefixLength > 0 }.prefix(Self.most).map(\.address.reverseLabels)
        var known: Set<DomainName> = []
        return (domains + reverse).flatMap { domain in
            labels.compactMap { label in
                try? DomainName(labels: [label, "_dns-sd", "_udp"].map { Array($0.utf8) } + domain)
            }
        }.filter { known.insert($0).inserted }
    }
}

extension Surroundings {
    /// Returns the networks of this host's addresses, except loopback and link-local ones.
    package static func networks(of local: LocalAddresses) -> [CIDR] {
        var known: Set<CIDR> = []
        return local.entries.filter { !local.loopbacks.contains($0.interface) && !$0.address.isLinkLocal }
            .compactMap { CIDR(containing: $0.address, prefixLength: $0.prefixLength) }
            .filter { known.insert($0).inserted }
    }
}

extension IPAddress {
    /// The labels of the address's reverse name (RFC 1035 §3.5, RFC 3596 §2.5).
    fileprivate var reverseLabels: [[UInt8]] {
        let labels: [String]
        switch self {
        case .v4(let address):
            labels = (0..<4).map { String(address.bits >> (8 * $0) & 0xFF) } + ["in-addr", "arpa"]
        case .v6(let address, _):
            labels =
                [address.low, address.high].flatMap { half in
                    (0..<16).map { String(half >> (4 * UInt64($0)) & 0xF, radix: 16) }
                } + ["ip6", "arpa"]
        }
        return labels.map { Array($0.utf8) }
    }
}
