package import DNSSD

/// A domain name on the wire: labels of any bytes (RFC 1035 §3.1, RFC 2181 §11).
///
/// Names are compared without regard to the case of ASCII letters (RFC 4343), but keep the case in which they were
/// read.
public struct DomainName: Sendable {
    /// The longest label in bytes (RFC 1035 §2.3.4).
    public static let maximumLabelLength = 63
    /// The longest name in bytes on the wire, including length bytes and the root (RFC 1035 §2.3.4).
    public static let maximumLength = 255

    /// The name on the wire, uncompressed: each label after its length, and a zero byte at the end.
    public let wire: [UInt8]

    /// A hash of the folded name. Each process has its own seed, so no one can choose names that collide. A name is hashed and compared
    /// many times, and made once.
    package let code: UInt32

    /// The root, which has no labels.
    public static let root = DomainName(uncheckedWire: [0])

    init(uncheckedWire wire: [UInt8]) { (self.wire, code) = (wire, Self.code(of: wire)) }

    /// Creates a name from its labels, without the root's empty one.
    /// - Throws: `.invalidName` if a label is empty or longer than 63 bytes, or the name longer than 255.
    public init(labels: some Sequence<some Collection<UInt8>>) throws(MessageError) {
        var wire: [UInt8] = []
        for label in labels {
            guard let length = UInt8(exactly: label.count), 1...Self.maximumLabelLength ~= label.count else {
                throw .invalidName
            }
            wire.append(length)
            wire.append(contentsOf: label)
            guard wire.count < Self.maximumLength else { throw .invalidName }
        }
        wire.append(0)
        self.init(uncheckedWire: wire)
    }

    /// The labels in order, without the root's empty one.
    public var labels: [ArraySlice<UInt8>] {
        var labels: [ArraySlice<UInt8>] = []
        var index = 0
        while index < wire.count, wire[index] > 0 {
            let end = index + 1 + Int(wire[index])
            labels.append(wire[index + 1..<end])
            index = end
        }
        return labels
    }

    /// The name without its first label; nil for the root.
    public var parent: DomainName? {
        guard let length = wire.first, length > 0 else { return nil }
        return DomainName(uncheckedWire: Array(wire[(1 + Int(length))...]))
    }

    /// The name on the wire in lower case, the form to sign and hash (RFC 4034 §6.2).
    public var canonicalWire: [UInt8] { wire.map(\.folded) }

    /// Returns whether the name is `other` or lies below it.
    public func isWithin(_ other: DomainName) -> Bool {
        let (mine, others) = (labels, other.labels)
        return mine.count >= others.count
            && zip(mine.suffix(others.count), others).allSatisfy { $0.elementsEqual($1) { $0.folded == $1.folded } }
    }
}

extension DomainName: Hashable {
    /// Compares without regard to the case of ASCII letters. A length byte, at most 63, is never a letter, so the whole
    /// wire form can be folded.
    public static func == (one: DomainName, other: DomainName) -> Bool {
        one.code == other.code
            && (one.wire == other.wire
                || one.wire.count == other.wire.count
                    && one.wire.elementsEqual(other.wire) { $0.folded == $1.folded })
    }

    /// Hashes without regard to the case of ASCII letters.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// Hashes the folded name, eight bytes at a time.
    private static func code(of wire: [UInt8]) -> UInt32 {
        var hasher = Hasher()
        let bytes = wire.span.bytes
        var offset = 0
        while bytes.byteCount - offset >= 8 {
            hasher.combine(bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self).folded)
            offset += 8
        }
        var rest: UInt64 = 0
        for index in offset..<wire.count { rest = rest << 8 | UInt64(wire[index].folded) }
        hasher.combine(rest)
        hasher.combine(wire.count)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }
}

extension UInt64 {
    /// The number with each of its eight bytes folded.
    fileprivate var folded: UInt64 {
        // The top bit of each byte shows whether its lower seven bits are at least "A", and whether they are above "Z".
        let low = self & 0x7F7F_7F7F_7F7F_7F7F
        let (fromA, aboveZ) = (low + 0x3F3F_3F3F_3F3F_3F3F, low + 0x2525_2525_2525_2525)
        let capitals = (fromA ^ aboveZ) & ~self & 0x8080_8080_8080_8080
        return self | capitals >> 2
    }
}

extension DomainName: CustomStringConvertible {
    /// The labels, each followed by a dot. `.` and `\` follow a backslash, and bytes that are not printable ASCII
    /// become `\DDD` (RFC 1035 §5.1); safe for a terminal.
    public var description: String {
        labels.isEmpty ? "." : labels.map { $0.map(\.presentation).joined() + "." }.joined()
    }
}

extension DomainName {
    /// As people write it, without the final dot but for the root; safe for a terminal.
    package var presentation: String { wire.count > 1 ? String(description.dropLast()) : description }
}

extension UInt8 {
    /// The byte, with an ASCII letter in lower case (RFC 4343).
    var folded: UInt8 { 0x41...0x5A ~= self ? self | 0x20 : self }

    /// The presentation of a byte in a label (RFC 1035 §5.1).
    fileprivate var presentation: String {
        switch self {
        case UInt8(ascii: "."), UInt8(ascii: "\\"): "\\" + String(Unicode.Scalar(self))
        case 0x21...0x7E: String(Unicode.Scalar(self))
        default: "\\" + String(repeating: "0", count: self < 10 ? 2 : self < 100 ? 1 : 0) + String(self)
        }
    }
}

extension DomainName {
    /// Reads a name as people write it, with or without the final dot: `h1.local`, `Tony\.s._http._tcp.local`.
    ///
    /// `\` takes the meaning from the character that follows it, and `\DDD` is the byte of that decimal number (RFC 1035
    /// §5.1). Other characters stand for their UTF-8 bytes. `.` is the root.
    /// - Throws: `.invalidName` if a label is empty or longer than 63 bytes, the name longer than 255, or an escape
    ///   incomplete.
    public init(presentation text: String) throws(MessageError) {
        guard text != "." else {
            self = .root
            return
        }
        guard let labels = DNSName.bytes(observed: text) else { throw .invalidName }
        try self.init(labels: labels)
    }
}

// The names of DNS-SD on the wire, and back.

extension DomainName {
    /// Where services of a type are listed (RFC 6763 §4); nil when that is longer than a name can be.
    package init?(listing type: ServiceType, in domain: Domain) {
        guard let name = try? DomainName(labels: type.labels + domain.labels) else { return nil }
        self = name
    }

    /// Whose records describe a service (RFC 6763 §5).
    package init?(_ instance: ServiceInstance) {
        let label = Array(instance.name.text.utf8)
        guard let name = try? DomainName(labels: [label] + instance.type.labels + instance.domain.labels) else {
            return nil
        }
        self = name
    }

    /// A name of DNS-SD's own: `_services._dns-sd._udp` and its like, in a domain.
    package init?(_ labels: [String], in domain: Domain) {
        guard let name = try? DomainName(labels: labels.map { Array($0.utf8) } + domain.labels) else { return nil }
        self = name
    }

    /// Where the types of services are listed (RFC 6763 §9); nil when that is longer than a name can be.
    package static func types(in domain: Domain) -> DomainName? {
        DomainName(["_services", "_dns-sd", "_udp"], in: domain)
    }

    /// The first label of a name that has exactly one more than `other`, and the same behind it.
    package func label(below other: DomainName) -> ArraySlice<UInt8>? {
        let length = Int(wire[0])
        guard length > 0, wire.count == other.wire.count + length + 1,
            wire[(1 + length)...].elementsEqual(other.wire, by: { $0.folded == $1.folded })
        else { return nil }
        return wire[1...length]
    }
}

extension IPAddress {
    /// - Parameter scope: the interface's index, for addresses that mean something there alone.
    package init?(_ data: RecordData, scope: UInt32) {
        switch data {
        case .a(let bits): self = .v4(IPv4Address(bits: bits))
        case .aaaa(let high, let low):
            let address = IPv6Address(high: high, low: low)
            self = .v6(address, scope: address.isLinkLocal ? scope : 0)
        default: return nil
        }
    }

    /// Its record's type and data (RFC 1035 §3.4.1, RFC 3596 §2.2).
    package var record: (type: RecordType, data: RecordData) {
        switch self {
        case .v4(let address): (.a, .a(address.bits))
        case .v6(let address, _): (.aaaa, .aaaa(high: address.high, low: address.low))
        }
    }
}

extension ServiceType {
    /// A type as it is listed: without a subtype, in the domain that was asked (RFC 6763 §9).
    package init?(listed name: DomainName, in domain: Domain) {
        let labels = name.labels
        guard labels.count > 2, Domain(labels: labels.dropFirst(2)) == domain else { return nil }
        self.init(labels: labels.prefix(2))
    }
}
