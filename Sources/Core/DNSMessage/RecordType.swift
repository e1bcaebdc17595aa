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

extension RecordType {
    /// The mnemonics of IANA's registry "Domain Name System (DNS) Parameters", of all types there; of 255, `*` there, the usual one.
    static let mnemonics: [UInt16: String] = [
        1: "A", 2: "NS", 3: "MD", 4: "MF", 5: "CNAME", 6: "SOA", 7: "MB", 8: "MG", 9: "MR", 10: "NULL", 11: "WKS",
        12: "PTR", 13: "HINFO", 14: "MINFO", 15: "MX", 16: "TXT", 17: "RP", 18: "AFSDB", 19: "X25", 20: "ISDN",
        21: "RT", 22: "NSAP", 23: "NSAP-PTR", 24: "SIG", 25: "KEY", 26: "PX", 27: "GPOS", 28: "AAAA", 29: "LOC",
        30: "NXT", 31: "EID", 32: "NIMLOC", 33: "SRV", 34: "ATMA", 35: "NAPTR", 36: "KX", 37: "CERT", 38: "A6",
        39: "DNAME", 40: "SINK", 41: "OPT", 42: "APL", 43: "DS", 44: "SSHFP", 45: "IPSECKEY", 46: "RRSIG", 47: "NSEC",
        48: "DNSKEY", 49: "DHCID", 50: "NSEC3", 51: "NSEC3PARAM", 52: "TLSA", 53: "SMIMEA", 55: "HIP",
        56: "NINFO", 57: "RKEY", 58: "TALINK", 59: "CDS",
        60: "CDNSKEY", 61: "OPENPGPKEY", 62: "CSYNC", 63: "ZONEMD", 64: "SVCB", 65: "HTTPS",
        66: "DSYNC", 67: "HHIT", 68: "BRID", 99: "SPF", 100: "UINFO", 101: "UID", 102: "GID", 103: "UNSPEC", 104: "NID",
        105: "L32", 106: "L64", 107: "LP", 108: "EUI48", 109: "EUI64", 128: "NXNAME", 249: "TKEY", 250: "TSIG",
        251: "IXFR",
        252: "AXFR", 253: "MAILB", 254: "MAILA", 255: "ANY", 256: "URI", 257: "CAA", 258: "AVC", 259: "DOA",
        260: "AMTRELAY",
        261: "RESINFO", 262: "WALLET", 263: "CLA", 264: "IPN", 32768: "TA", 32769: "DLV",
    ]
}

/// The numbers of outcomes in IANA's registry. Those up to 10 are a message's, those from 16 a TSIG record's.
public enum ResponseCode {
    /// The request succeeded.
    public static let noError: UInt16 = 0
    /// The server could not read the request (RFC 1035 §4.1.1).
    public static let formatError: UInt16 = 1
    /// The server failed.
    public static let serverFailure: UInt16 = 2
    /// The name does not exist.
    public static let noSuchName: UInt16 = 3
    /// The server does not support this kind of request.
    public static let notImplemented: UInt16 = 4
    /// The server's policy forbids the request.
    public static let refused: UInt16 = 5
    /// A name exists that must not (RFC 2136 §2.2).
    public static let nameExists: UInt16 = 6
    /// Records exist that must not (RFC 2136 §2.2).
    public static let recordsExist: UInt16 = 7
    /// The server is not an authority for the zone (RFC 2136 §2.2), or a TSIG error occurred (RFC 8945 §5.2).
    public static let notAuthoritative: UInt16 = 9
    /// The signature is wrong (RFC 8945 §3).
    public static let badSignature: UInt16 = 16
    /// The key is unknown.
    public static let badKey: UInt16 = 17
    /// The clocks differ too much.
    public static let badTime: UInt16 = 18

    private static let names: [UInt16: String] = [
        0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED", 6: "YXDOMAIN",
        7: "YXRRSET", 8: "NXRRSET", 9: "NOTAUTH", 10: "NOTZONE", 16: "BADSIG", 17: "BADKEY", 18: "BADTIME",
        22: "BADTRUNC", 23: "BADCOOKIE",
    ]

    /// Returns the mnemonic, or `RCODE` and the number.
    public static func name(of code: UInt16) -> String { names[code] ?? "RCODE\(code)" }
}

/// The types that a name has, as they are on the wire (RFC 4034 §4.1.2): however many they are, they cost their bytes alone.
public struct TypeBitmap: Hashable, Sendable {
    /// Windows, each with its number, its length and its bits.
    public let bytes: [UInt8]

    /// Takes windows as they are on the wire; nil if one does not fit.
    init?(windows bytes: ArraySlice<UInt8>) {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            guard bytes.endIndex - index >= 2, 1...32 ~= bytes[index + 1],
                bytes.endIndex - index >= 2 + Int(bytes[index + 1])
            else { return nil }
            index += 2 + Int(bytes[index + 1])
        }
        self.bytes = Array(bytes)
    }

    /// Creates a bitmap of these types.
    public init(_ types: some Sequence<RecordType>) {
        var bytes: [UInt8] = []
        for (window, members) in Dictionary(grouping: types, by: { $0.rawValue >> 8 }).sorted(by: { $0.key < $1.key }) {
            let numbers = members.map { Int($0.rawValue & 0xFF) }
            var bitmap = [UInt8](repeating: 0, count: (numbers.max() ?? 0) / 8 + 1)
            for number in numbers { bitmap[number / 8] |= 0x80 >> UInt8(number % 8) }
            bytes += [UInt8(truncatingIfNeeded: window), UInt8(truncatingIfNeeded: bitmap.count)] + bitmap
        }
        self.bytes = bytes
    }

    /// Returns whether a type is among them.
    public func contains(_ type: RecordType) -> Bool {
        let (window, place) = (UInt8(type.rawValue >> 8), Int(type.rawValue & 0xFF) / 8)
        var index = 0
        while index + 1 < bytes.count {
            let length = Int(bytes[index + 1])
            if bytes[index] == window, place < length {
                return bytes[index + 2 + place] & 0x80 >> UInt8(type.rawValue & 7) != 0
            }
            index += 2 + length
        }
        return false
    }

    /// The types, in the order of the wire.
    public var types: [RecordType] {
        var (types, index): ([RecordType], Int) = ([], 0)
        while index + 1 < bytes.count {
            let (window, length) = (UInt16(bytes[index]) << 8, Int(bytes[index + 1]))
            for place in 0..<length * 8 where bytes[index + 2 + place / 8] & 0x80 >> UInt8(place % 8) != 0 {
                types.append(RecordType(rawValue: window | UInt16(place)))
            }
            index += 2 + length
        }
        return types
    }
}

extension TypeBitmap: ExpressibleByArrayLiteral {
    /// Creates a bitmap of these types.
    public init(arrayLiteral types: RecordType...) { self.init(types) }
}
