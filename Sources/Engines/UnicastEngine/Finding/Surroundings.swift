import DNSMessage
package import DNSSD
package import Discovery

/// This host's search domains and networks, which recommend domains to it (RFC 6763 §11).
package struct Surroundings: Hashable, Sendable {
    /// The search domains of /etc/resolv.conf.
    package var searchDomains: [Domain]
    /// The networks of this host's addresses.
    package var networks: [CIDR]

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
        let reverse = networks.filter { $0.prefixLength > 0 }.prefix(Self.most)
            .compactMap { DomainName(reverse: $0.address)?.labels.map { Array($0) } }
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
