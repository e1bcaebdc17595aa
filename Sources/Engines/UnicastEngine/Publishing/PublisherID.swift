package import DNSMessage

#if Unicast
import Crypto
#endif

/// Identifies a publisher by 128 random bits. It is a label in the zone, and part of the digests that show ownership.
package struct PublisherID: Hashable, Sendable {
    /// The id as 32 hexadecimal digits in lower case.
    package let text: String

    /// Creates a random id.
    package init(using generator: inout some RandomNumberGenerator) {
        let digits = Array("0123456789abcdef".utf8)
        text = String(decoding: (0..<32).map { _ in digits[Int.random(in: 0..<16, using: &generator)] }, as: UTF8.self)
    }

    /// Creates a random id.
    package init() {
        var generator = SystemRandomNumberGenerator()
        self.init(using: &generator)
    }

    /// Reads an id from a file or a zone, where a server may have changed its case; nil for any other text.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 32, let text = String(validating: bytes, as: UTF8.self)?.lowercased(),
            text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 })
        else { return nil }
        self.text = text
    }

    /// Returns the id under which this publisher publishes for another host; it is the same after a restart.
    package func derived(for host: String) -> PublisherID {
        #if Unicast
        var digest = SHA256.hash(data: Array(text.utf8) + [0] + Array(host.utf8)).makeIterator()
        return PublisherID(digest: (0..<16).compactMap { _ in digest.next() })
        #else
        return self
        #endif
    }

    private init(digest: [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        text = String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }, as: UTF8.self)
    }

    /// The shard of the index that lists the publisher: its first digit.
    package var shard: Int { text.utf8.first.map { Int($0 & 0xF) + ($0 >= 0x61 ? 9 : 0) } ?? 0 }

    /// Returns the data of the DHCID record that marks `name` as this publisher's (RFC 4701 §3.3): identifier type 2,
    /// digest type 1, and SHA-256 of the identifier and the name in lower case.
    package func ownership(of name: DomainName) -> RecordData {
        #if Unicast
        let canonical = name.wire.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
        return .other([0, 2, 1] + SHA256.hash(data: Array(text.utf8) + canonical))
        #else
        // Nothing is published without the trait; this owns nothing.
        return .other([])
        #endif
    }
}
