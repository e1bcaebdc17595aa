/// The type of a resource record, or of a question (RFC 1035 §3.2.2 and §3.2.3).
public struct RecordType: RawRepresentable, Hashable, Sendable {
    /// The number in IANA's registry of DNS parameters.
    public let rawValue: UInt16

    /// Creates a type from its number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// An IPv4 address (RFC 1035 §3.4.1).
    public static let a = RecordType(rawValue: 1)
    /// A name server (RFC 1035 §3.3.11).
    public static let ns = RecordType(rawValue: 2)
    /// An alias's canonical name (RFC 1035 §3.3.1).
    public static let cname = RecordType(rawValue: 5)
    /// The start of a zone (RFC 1035 §3.3.13).
    public static let soa = RecordType(rawValue: 6)
    /// A pointer to a name (RFC 1035 §3.3.12).
    public static let ptr = RecordType(rawValue: 12)
    /// A host's processor and system (RFC 1035 §3.3.2).
    public static let hinfo = RecordType(rawValue: 13)
    /// Text strings (RFC 1035 §3.3.14).
    public static let txt = RecordType(rawValue: 16)
    /// An IPv6 address (RFC 3596 §2.1).
    public static let aaaa = RecordType(rawValue: 28)
    /// A service's host and port (RFC 2782).
    public static let srv = RecordType(rawValue: 33)
    /// EDNS (RFC 6891 §6.1).
    public static let opt = RecordType(rawValue: 41)
    /// The types that a name has (RFC 4034 §4, RFC 6762 §6.1).
    public static let nsec = RecordType(rawValue: 47)
    /// The identifier of the client that owns a name (RFC 4701).
    public static let dhcid = RecordType(rawValue: 49)
    /// A transaction's signature (RFC 8945).
    public static let tsig = RecordType(rawValue: 250)
    /// Any type (RFC 1035 §3.2.3); in an update, every type (RFC 2136 §2.4).
    public static let any = RecordType(rawValue: 255)
}

extension RecordType: CustomStringConvertible {
    /// The type's mnemonic, or `TYPE` and its number (RFC 3597 §5).
    public var description: String { Self.mnemonics[rawValue] ?? "TYPE\(rawValue)" }

    /// Reads a mnemonic, `TYPE` and a number, or a number, whatever the case (RFC 3597 §5); nil for any other text.
    public init?(text: String) {
        let name = text.uppercased()
        if let known = Self.mnemonics.first(where: { $0.value == name })?.key {
            self.init(rawValue: known)
            return
        }
        let digits = name.hasPrefix("TYPE") ? name.dropFirst(4) : name[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = UInt16(digits) else {
            return nil
        }
        self.init(rawValue: number)
    }
}

/// The class of a record or question, without the top bit to which mDNS gives another meaning (RFC 1035 §3.2.4,
/// RFC 6762 §5.4 and §10.2).
public struct RecordClass: RawRepresentable, Hashable, Sendable {
    /// The number; below 32 768 in a message that was read.
    public let rawValue: UInt16

    /// Creates a class from its number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The Internet.
    public static let internet = RecordClass(rawValue: 1)
    /// In an update, a prerequisite that a name or type does not exist (RFC 2136 §2.4), or the deletion of one record
    /// (§2.5.4).
    public static let none = RecordClass(rawValue: 254)
    /// Any class; in an update, a prerequisite or deletion regardless of the data (RFC 2136 §2.4 and §2.5).
    public static let any = RecordClass(rawValue: 255)
}
