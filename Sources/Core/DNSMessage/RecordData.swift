/// The data of a resource record. Its names are uncompressed: the reader resolves pointers, and the writer makes them.
public enum RecordData: Hashable, Sendable {
    /// An IPv4 address, its first byte most significant.
    case a(UInt32)
    /// An IPv6 address: its first eight bytes and its last eight, the first byte of each most significant.
    case aaaa(high: UInt64, low: UInt64)
    /// The name that a PTR record points to.
    case ptr(DomainName)
    /// A service's host and port, and its rank among several records (RFC 2782).
    case srv(priority: UInt16, weight: UInt16, port: UInt16, target: DomainName)
    /// Strings in wire form, each of at most 255 bytes after its length; `TextStrings` reads and makes them.
    case txt([UInt8])
    /// The types that a name has; in mDNS it has no others (RFC 6762 §6.1). Apart, as two others are: all the rest are smaller so.
    indirect case nsec(next: DomainName, types: TypeBitmap)
    /// The canonical name, for which the owner is an alias.
    case cname(DomainName)
    /// A name server.
    case ns(DomainName)
    /// Processor and operating system.
    case hinfo(cpu: [UInt8], os: [UInt8])
    /// The start of a zone.
    indirect case soa(StartOfAuthority)
    /// A transaction's signature.
    indirect case tsig(TransactionSignature)
    /// The data of any other type, its names uncompressed where they may be compressed (RFC 3597 §4); data that breaks its type's format; or no
    /// data.
    case other([UInt8])
}

/// The data of a SOA record (RFC 1035 §3.3.13). Times are in seconds.
public struct StartOfAuthority: Hashable, Sendable {
    /// The primary server.
    public var primary: DomainName
    /// The mailbox of the person in charge, with a dot for its `@`.
    public var mailbox: DomainName
    /// The version of the zone; see RFC 1982 for comparing it.
    public var serial: UInt32
    /// The interval at which secondary servers check the zone.
    public var refresh: UInt32
    /// The interval at which they retry after a failure.
    public var retry: UInt32
    /// The time without contact after which they stop answering.
    public var expire: UInt32
    /// The longest time for which a negative answer may be cached (RFC 2308 §4).
    public var minimum: UInt32

    /// Creates the data of a SOA record, in the order of the wire.
    public init(
        primary: DomainName, mailbox: DomainName, serial: UInt32, refresh: UInt32, retry: UInt32, expire: UInt32,
        minimum: UInt32
    ) {
        (self.primary, self.mailbox, self.serial, self.refresh) = (primary, mailbox, serial, refresh)
        (self.retry, self.expire, self.minimum) = (retry, expire, minimum)
    }
}

/// The strings of a TXT record (RFC 1035 §3.3, RFC 6763 §6.1).
public enum TextStrings {
    /// Returns the strings in a record's data; nil if a length does not fit.
    public static func strings(of data: some RandomAccessCollection<UInt8>) -> [[UInt8]]? {
        strings(in: Array(data)[...])
    }

    private static func strings(in data: ArraySlice<UInt8>) -> [[UInt8]]? {
        var strings: [[UInt8]] = []
        var rest = data
        while let length = rest.popFirst() {
            guard rest.count >= Int(length) else { return nil }
            strings.append(Array(rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        return strings
    }

    /// Returns a record's data; without strings, one empty string (RFC 6763 §6.1).
    /// - Throws: `.oversizedField` if a string is longer than 255 bytes.
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
