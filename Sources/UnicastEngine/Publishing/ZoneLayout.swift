package import DNSMessage
package import DNSSD
import WireNames

/// Where a publisher's records are in a domain.
///
/// Services and hosts are where everyone looks for them. Everything that is for publishers alone is below `_discoverd`: who lives (a lease
/// for each), what is listed of it (its manifest), and who there is (the index). Manifest and index are spread over 16 names each,
/// because servers refuse more than about 100 records of a type at one name.
package struct ZoneLayout: Hashable, Sendable {
    /// The most records of a type that this library puts at one name of its own.
    package static let mostRecords = 90
    /// The most services of one type in a domain: BIND, as a server and as a resolver, takes no more (its `max-records-per-type`).
    package static let mostServices = 100
    /// Over how many names index and manifests are spread.
    package static let shards = 16

    /// The domain that services are published in.
    package let domain: Domain
    /// The same on the wire.
    package let root: DomainName
    /// `_discoverd` below it.
    private let own: DomainName
    private let index: DomainName

    /// - Returns: nil for a domain so long that names below it would be too long.
    package init?(_ domain: Domain) {
        guard let root = DomainName([], in: domain), let own = DomainName(["_discoverd"], in: domain),
            let index = DomainName(["_index", "_discoverd"], in: domain),
            // The longest: a digit, and an id.
            root.wire.count + 11 + 2 + 33 <= DomainName.maximumLength
        else { return nil }
        self.domain = domain
        self.root = root
        self.own = own
        self.index = index
    }

    /// Where a publisher's lease is.
    package func lease(of id: PublisherID) -> DomainName { own.prefixed([Array(id.text.utf8)]) ?? own }

    /// Where a shard of the index is.
    package func index(_ shard: Int) -> DomainName { index.prefixed([Self.digit(shard)]) ?? index }

    /// Where a shard of a publisher's manifest is.
    package func manifest(_ shard: Int, of id: PublisherID) -> DomainName {
        own.prefixed([Self.digit(shard), Array(id.text.utf8)]) ?? own
    }

    /// The publisher whose lease is at a name.
    package func publisher(at lease: DomainName) -> PublisherID? { lease.label(below: own).flatMap { PublisherID($0) } }

    /// Where the types of the domain are listed (RFC 6763 §9).
    package var types: DomainName { root.prefixed(["_services", "_dns-sd", "_udp"].map { Array($0.utf8) }) ?? root }

    /// A host's name in the domain; dots in it separate labels.
    package func host(_ name: String) -> DomainName? {
        root.prefixed(name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init))
    }

    /// The shard of the manifest that lists a name: FNV-1a over its bytes in lower case.
    package static func shard(of name: DomainName) -> Int {
        var hash: UInt32 = 2_166_136_261
        for byte in name.wire {
            hash ^= UInt32(0x41...0x5A ~= byte ? byte | 0x20 : byte)
            hash &*= 16_777_619
        }
        return Int(truncatingIfNeeded: (hash >> 16 ^ hash) & 0xF)
    }

    private static func digit(_ shard: Int) -> [UInt8] { Array(String(shard & 0xF, radix: 16).utf8) }
}

extension DomainName {
    /// With labels before it; nil when a label or the whole is too long.
    package func prefixed(_ labels: [[UInt8]]) -> DomainName? {
        try? DomainName(labels: labels + self.labels.map(Array.init))
    }
}
