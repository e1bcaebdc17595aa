package import DNSMessage
package import DNSSD

/// The names of a publisher's records in a domain.
///
/// Services and hosts have the names under which everyone looks for them. Records for publishers alone are below
/// `_discoverd`: a lease for each publisher, a manifest that lists its names, and an index of all publishers. Manifest
/// and index are spread over 16 names each, because servers refuse more than about 100 records of a type at one name.
package struct ZoneLayout: Hashable, Sendable {
    /// The most records of a type that this library puts at one name of its own.
    package static let mostRecords = 90
    /// The most services of one type in a domain: BIND accepts no more, neither as a server nor as a resolver (its
    /// `max-records-per-type`).
    package static let mostServices = 100
    /// The number of names over which the index, and each manifest, is spread.
    package static let shards = 16

    /// The domain in which services are published.
    package let domain: Domain
    /// The domain on the wire.
    package let root: DomainName
    /// `_discoverd` below it.
    private let own: DomainName
    private let index: DomainName

    /// Creates a layout; nil if names below the domain would be too long, or wildcards.
    package init?(_ domain: Domain) {
        guard let root = DomainName([], in: domain), let own = DomainName(["_discoverd"], in: domain),
            let index = DomainName(["_index", "_discoverd"], in: domain),
            !root.isWildcard,
            // The longest name has a digit and an id before `_discoverd`.
            root.wire.count + 11 + 2 + 33 <= DomainName.maximumLength
        else { return nil }
        self.domain = domain
        self.root = root
        self.own = own
        self.index = index
    }

    /// Returns the name of a publisher's lease.
    package func lease(of id: PublisherID) -> DomainName { own.prefixed([Array(id.text.utf8)]) ?? own }

    /// Returns the name of a shard of the index.
    package func index(_ shard: Int) -> DomainName { index.prefixed([Self.digit(shard)]) ?? index }

    /// Returns the name of a shard of a publisher's manifest.
    package func manifest(_ shard: Int, of id: PublisherID) -> DomainName {
        own.prefixed([Self.digit(shard), Array(id.text.utf8)]) ?? own
    }

    /// Returns the publisher whose lease has this name; nil if it is not a lease's name.
    package func publisher(at lease: DomainName) -> PublisherID? { lease.label(below: own).flatMap { PublisherID($0) } }

    /// The name at which the domain's types are listed (RFC 6763 §9).
    package var types: DomainName { root.prefixed(["_services", "_dns-sd", "_udp"].map { Array($0.utf8) }) ?? root }

    /// Returns a host's name in the domain; dots in `name` separate labels. Nil if it cannot be a DNS name, and for a
    /// wildcard.
    package func host(_ name: String) -> DomainName? {
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
        return root.prefixed(labels).flatMap { $0.isWildcard ? nil : $0 }
    }

    /// Returns the shard of the manifest that lists a name: FNV-1a over its bytes in lower case.
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
    /// Whether a record of the name would make a server answer for names that are absent: a label is `*`. It need not be
    /// the first, because with `a.*` the name `*` exists, too (RFC 4592 §2.2).
    package var isWildcard: Bool { labels.contains { $0.elementsEqual("*".utf8) } }

    /// Returns the name with labels before it; nil if a label or the result is too long.
    package func prefixed(_ labels: [[UInt8]]) -> DomainName? {
        try? DomainName(labels: labels + self.labels.map(Array.init))
    }
}

/// A publisher's lease: a TXT record whose text changes with each renewal, which shows that the publisher lives.
package struct Lease: Hashable, Sendable {
    /// The allowed lengths, in seconds.
    package static let seconds = 10...604_800

    /// The strings on the wire.
    package let data: [UInt8]
    /// How long the lease holds unless it is renewed.
    package let length: Duration

    /// Creates a lease.
    /// - Parameters:
    ///   - session: a random number, different for each process.
    ///   - count: a number that is different for each renewal.
    ///   - seconds: the length, moved into the allowed range.
    package init(session: UInt64, count: UInt64, seconds: Int) {
        let seconds = min(max(seconds, Self.seconds.lowerBound), Self.seconds.upperBound)
        let strings = ["nonce=\(String(session, radix: 16))-\(count)", "lease=\(seconds)"]
        // Two short strings always fit.
        data = (try? TextStrings.data(of: strings.map { Array($0.utf8) })) ?? [0]
        length = .seconds(seconds)
    }

    /// Reads a lease; without a length it holds for two hours.
    package init(read data: [UInt8]) {
        self.data = data
        let key = Array("lease=".utf8)
        let text = TextStrings.strings(of: data)?.first { $0.starts(with: key) }?.dropFirst(key.count)
        let seconds = text.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 7200
        length = .seconds(min(max(seconds, Self.seconds.lowerBound), Self.seconds.upperBound))
    }
}
