import DNSSD

/// A name as a salted hash, like `HashKnownHosts` of ssh_config(5): the file does not say which machines are known, but whoever has a name can
/// ask it.
///
/// That the name is a label stays visible: only keys of labels are let in when they dial.
public struct HashedName: Hashable, Sendable {
    /// HMAC (RFC 2104) with SHA-256, of a library: this module has no cryptography.
    public typealias HMAC = @Sendable (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]

    private static let length = 32
    private static let mark = "|1|"

    private let salt: [UInt8]
    private let digest: [UInt8]
    /// It is the name of someone who dials in.
    public let isLabel: Bool

    /// Hashes a name with a random salt.
    public init(_ name: PeerName, by hmac: HMAC) {
        var random = SystemRandomNumberGenerator()
        salt = (0..<Self.length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        digest = hmac(salt, Self.message(name))
        isLabel = name.isLabel
    }

    /// Whether it is this name; ASCII case makes no difference, as everywhere.
    public func matches(_ name: PeerName, by hmac: HMAC) -> Bool {
        isLabel == name.isLabel && digest == hmac(salt, Self.message(name))
    }

    private static func message(_ name: PeerName) -> [UInt8] {
        name.description.utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
    }
}

extension HashedName: LosslessStringConvertible {
    /// Reads what `description` writes.
    public init?(_ text: String) {
        isLabel = text.hasPrefix("@")
        let parts = (isLabel ? text.dropFirst() : text[...]).split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].isEmpty, parts[1] == "1", let salt = Base64.decode(String(parts[2])),
            let digest = Base64.decode(String(parts[3])), salt.count == Self.length, digest.count == Self.length
        else { return nil }
        self.salt = salt
        self.digest = digest
    }

    /// `|1|salt|hash` in base64; a label's begins with `@`.
    public var description: String {
        (isLabel ? "@" : "") + Self.mark + Base64.encode(salt) + "|" + Base64.encode(digest)
    }
}

extension PeerName {
    var isLabel: Bool { if case .label = self { true } else { false } }
}
