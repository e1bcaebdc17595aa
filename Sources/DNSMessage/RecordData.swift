/// What a resource record says. Names in it are never compressed here: the reader resolves pointers, the writer makes them.
public enum RecordData: Hashable, Sendable {
    /// An IPv4 address, its first byte most significant.
    case a(UInt32)
    /// An IPv6 address: its first eight bytes, and its last.
    case aaaa(high: UInt64, low: UInt64)
    /// The name that a PTR record points to.
    case ptr(DomainName)
    /// A service's host and port, and which of several to take (RFC 2782).
    case srv(priority: UInt16, weight: UInt16, port: UInt16, target: DomainName)
    /// Strings as they are on the wire, each of at most 255 bytes behind its length; `TextStrings` reads and makes them.
    case txt([UInt8])
    /// The types that a name has; in mDNS, all other types do not exist there (RFC 6762 §6.1).
    case nsec(next: DomainName, types: Set<RecordType>)
    /// Another name for this one.
    case cname(DomainName)
    /// A name server.
    case ns(DomainName)
    /// Processor and operating system.
    case hinfo(cpu: [UInt8], os: [UInt8])
    /// The start of a zone.
    case soa(StartOfAuthority)
    /// A transaction's signature.
    case tsig(TransactionSignature)
    /// Data of a type that is not read here, data that breaks its type's format, or none; as it came.
    case other([UInt8])
}

/// What a SOA record says (RFC 1035 §3.3.13). Times are in seconds.
public struct StartOfAuthority: Hashable, Sendable {
    /// The primary server.
    public var primary: DomainName
    /// The mailbox of the person in charge, its `@` as a dot.
    public var mailbox: DomainName
    /// The version of the zone, compared as RFC 1982 says.
    public var serial: UInt32
    /// How often secondary servers look.
    public var refresh: UInt32
    /// How soon they look again after a failure.
    public var retry: UInt32
    /// After how long without contact they stop answering.
    public var expire: UInt32
    /// The longest a "no" may be remembered (RFC 2308 §4).
    public var minimum: UInt32

    /// A SOA's fields, in the order of the wire.
    public init(
        primary: DomainName, mailbox: DomainName, serial: UInt32, refresh: UInt32, retry: UInt32, expire: UInt32,
        minimum: UInt32
    ) {
        self.primary = primary
        self.mailbox = mailbox
        self.serial = serial
        self.refresh = refresh
        self.retry = retry
        self.expire = expire
        self.minimum = minimum
    }
}

/// The strings of a TXT record (RFC 1035 §3.3, RFC 6763 §6.1).
public enum TextStrings {
    /// The strings of a record's data. None when a length does not fit.
    public static func strings(of data: some RandomAccessCollection<UInt8>) -> [[UInt8]]? {
        var strings: [[UInt8]] = []
        var rest = data[...]
        while let length = rest.popFirst() {
            guard rest.count >= Int(length) else { return nil }
            strings.append(Array(rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        return strings
    }

    /// A record's data; one empty string for none (RFC 6763 §6.1).
    /// - Throws: `.oversizedField` for a string over 255 bytes.
    public static func data(of strings: some Sequence<[UInt8]>) throws(MessageError) -> [UInt8] {
        var data: [UInt8] = []
        for string in strings {
            guard let length = UInt8(exactly: string.count) else { throw .oversizedField }
            data.append(length)
            data.append(contentsOf: string)
        }
        return data.isEmpty ? [0] : data
    }
}
