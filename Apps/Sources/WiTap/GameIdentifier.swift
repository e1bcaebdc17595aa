package import DNSSD

extension ServiceType {
    /// The type of a game: `witap` is `_witap._tcp`. Nil unless the identifier has 1 to 14 lowercase letters, digits and hyphens, no hyphen
    /// at either end, and meets the other rules of RFC 6335 §5.1.
    package init?(gameIdentifier: String) {
        let isPlain = gameIdentifier.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
        }
        guard isPlain, (1...14).contains(gameIdentifier.utf8.count), !gameIdentifier.hasPrefix("-"),
            !gameIdentifier.hasSuffix("-"), let type = try? ServiceType("_\(gameIdentifier)._tcp")
        else { return nil }
        self = type
    }
}
