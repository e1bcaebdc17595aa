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
    /// Records that must exist do not, or differ (RFC 2136 §2.2).
    public static let recordsDiffer: UInt16 = 8
    /// The server is not an authority for the zone (RFC 2136 §2.2), or a TSIG error occurred (RFC 8945 §5.2).
    public static let notAuthoritative: UInt16 = 9
    /// A name is not within the zone.
    public static let notInZone: UInt16 = 10
    /// The signature is wrong (RFC 8945 §3).
    public static let badSignature: UInt16 = 16
    /// The key is unknown.
    public static let badKey: UInt16 = 17
    /// The clocks differ too much.
    public static let badTime: UInt16 = 18
    /// The signature is too short.
    public static let badTruncation: UInt16 = 22

    private static let names: [UInt16: String] = [
        0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED", 6: "YXDOMAIN",
        7: "YXRRSET", 8: "NXRRSET", 9: "NOTAUTH", 10: "NOTZONE", 16: "BADSIG", 17: "BADKEY", 18: "BADTIME",
        22: "BADTRUNC", 23: "BADCOOKIE",
    ]

    /// Returns the mnemonic, or `RCODE` and the number.
    public static func name(of code: UInt16) -> String { names[code] ?? "RCODE\(code)" }
}
