package import DNSMessage

#if Unicast
import Crypto
#endif

/// Who has published: 128 random bits, in lower-case hexadecimal. It is a label in the zone, and part of each owner's digest.
package struct PublisherID: Hashable, Sendable {
    /// 32 digits.
    package let text: String

    /// A new one.
    package init(using generator: inout some RandomNumberGenerator) {
        let digits = Array("0123456789abcdef".utf8)
        text = String(decoding: (0..<32).map { _ in digits[Int.random(in: 0..<16, using: &generator)] }, as: UTF8.self)
    }

    /// A new one.
    package init() {
        var generator = SystemRandomNumberGenerator()
        self.init(using: &generator)
    }

    /// One that was kept, or read in a zone, where a server may have changed its case; nil for anything else.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 32, let text = String(validating: bytes, as: UTF8.self)?.lowercased(),
            text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 })
        else { return nil }
        self.text = text
    }

    /// The id under which this publisher publishes for another host, the same after a restart.
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

    /// The digit that says which part of the index lists it.
    package var shard: Int { text.utf8.first.map { Int($0 & 0xF) + ($0 >= 0x61 ? 9 : 0) } ?? 0 }

    /// What a DHCID record of `name` says when it is this publisher's (RFC 4701 §3.3): identifier type 2, digest type 1, SHA-256 of the
    /// identifier and the name in lower case.
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
