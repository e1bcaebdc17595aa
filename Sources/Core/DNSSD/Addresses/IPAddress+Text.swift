extension IPv4Address: CustomStringConvertible {
    /// The address as four decimal numbers, such as `10.0.0.7`.
    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(15)
        for byte in bytes {
            if !text.isEmpty { text.append(UInt8(ascii: ".")) }
            if byte >= 100 { text.append(UInt8(ascii: "0") + byte / 100) }
            if byte >= 10 { text.append(UInt8(ascii: "0") + byte / 10 % 10) }
            text.append(UInt8(ascii: "0") + byte % 10)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads four decimal numbers; nil for any other text, and for leading zeros, which some programs read as octal.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bits: UInt32 = 0
        for part in parts {
            guard 1...3 ~= part.count, part.allSatisfy(\.isASCIIDigit),
                part.count == 1 || part.first != UInt8(ascii: "0")
            else { return nil }
            let number = part.reduce(UInt32(0)) { $0 * 10 + UInt32($1 - UInt8(ascii: "0")) }
            guard number <= 255 else { return nil }
            bits = bits << 8 | number
        }
        self.init(bits: bits)
    }

    /// Creates an address from four bytes in network order; nil for any other number of bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 4 else { return nil }
        self.init(bits: bytes.reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// The four bytes in network order.
    public var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: bits >> (24 - 8 * UInt32($0))) } }
}

extension IPv4Address: Comparable {
    /// Orders by number.
    public static func < (one: IPv4Address, other: IPv4Address) -> Bool { one.bits < other.bits }
}

extension IPv4Address {
    /// Whether the address is 0.0.0.0.
    public var isUnspecified: Bool { bits == 0 }
    /// Whether the address is in 0.0.0.0/8, "this network" (RFC 791 §3.2), which is never a destination.
    public var isThisNetwork: Bool { bits >> 24 == 0 }
    /// Whether the address is in 127.0.0.0/8.
    public var isLoopback: Bool { bits >> 24 == 127 }
    /// Whether the address is in 169.254.0.0/16 (RFC 3927).
    public var isLinkLocal: Bool { bits >> 16 == 0xA9FE }
    /// Whether the address is in 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16 (RFC 1918).
    public var isPrivate: Bool { bits >> 24 == 10 || bits >> 20 == 0xAC1 || bits >> 16 == 0xC0A8 }
    /// Whether the address is in 224.0.0.0/4.
    public var isMulticast: Bool { bits >> 28 == 0xE }
    /// Whether the address is 255.255.255.255.
    public var isBroadcast: Bool { bits == .max }
}

extension IPv6Address: CustomStringConvertible {
    /// The address as text (RFC 5952 §4 and §5): in lower case, with `::` for the longest run of zero groups, and
    /// `::ffff:10.0.0.7` for a mapped address.
    public var description: String {
        if isIPv4Mapped { return "::ffff:\(IPv4Address(bits: UInt32(truncatingIfNeeded: low)))" }
        let groups = groups
        let run = Self.longestZeroRun(groups) ?? groups.count..<groups.count
        var text: [UInt8] = []
        text.reserveCapacity(39)
        Self.append(groups[..<run.lowerBound], to: &text)
        if !run.isEmpty { text += [Self.colon, Self.colon] }
        Self.append(groups[run.upperBound...], to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static let colon = UInt8(ascii: ":")
    private static let digits = Array("0123456789abcdef".utf8)

    private static func append(_ groups: ArraySlice<UInt16>, to text: inout [UInt8]) {
        for index in groups.indices {
            if index > groups.startIndex { text.append(colon) }
            let group = groups[index]
            for shift in [12, 8, 4] where group >> shift != 0 { text.append(digits[Int(group >> shift & 0xF)]) }
            text.append(digits[Int(group & 0xF)])
        }
    }

    /// Reads every form of RFC 4291 §2.2, including `::` and an IPv4 address at the end, but no scope; nil for any
    /// other text.
    public init?(_ text: String) {
        // The longest form is 45 characters: six groups and an IPv4 address.
        guard 2...45 ~= text.utf8.count, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let utf8 = Array(text.utf8)
        var groups: [UInt16]
        if let gap = utf8.indices.dropLast().first(where: { utf8[$0] == Self.colon && utf8[$0 + 1] == Self.colon }) {
            guard let before = Self.groups(utf8[..<gap], mayEndInIPv4: false),
                let after = Self.groups(utf8[(gap + 2)...], mayEndInIPv4: true), before.count + after.count < 8
            else { return nil }
            groups = before + Array(repeating: 0, count: 8 - before.count - after.count) + after
        } else {
            guard let all = Self.groups(utf8[...], mayEndInIPv4: true), all.count == 8 else { return nil }
            groups = all
        }
        self.init(
            high: groups[..<4].reduce(0) { $0 << 16 | UInt64($1) },
            low: groups[4...].reduce(0) { $0 << 16 | UInt64($1) }
        )
    }

    /// Creates an address from sixteen bytes in network order; nil for any other number of bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.init(
            high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
            low: bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
        )
    }

    /// The sixteen bytes in network order.
    public var bytes: [UInt8] {
        [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * UInt64($0))) } }
    }

    private var groups: [UInt16] {
        [high, low].flatMap { half in (0..<4).map { UInt16(truncatingIfNeeded: half >> (48 - 16 * UInt64($0))) } }
    }

    /// The first of the longest runs of at least two zero groups (RFC 5952 §4.2).
    private static func longestZeroRun(_ groups: [UInt16]) -> Range<Int>? {
        var longest: Range<Int>?
        var start: Int?
        for index in 0...groups.count {
            if index < groups.count, groups[index] == 0 {
                start = start ?? index
            } else if let first = start {
                if index - first >= max(2, (longest?.count ?? 0) + 1) { longest = first..<index }
                start = nil
            }
        }
        return longest
    }

    /// Reads up to eight groups of one to four digits between colons; nil for any other text.
    private static func groups(_ text: ArraySlice<UInt8>, mayEndInIPv4: Bool) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var groups: [UInt16] = []
        for (index, part) in parts.enumerated() {
            let digits = String(decoding: part, as: UTF8.self)
            if mayEndInIPv4, index == parts.count - 1, let address = IPv4Address(digits) {
                groups += [UInt16(truncatingIfNeeded: address.bits >> 16), UInt16(truncatingIfNeeded: address.bits)]
            } else {
                // UInt16(_:radix:) would take a sign.
                guard part.count <= 4, part.first?.isASCIIAlphanumeric == true, let group = UInt16(digits, radix: 16)
                else { return nil }
                groups.append(group)
            }
        }
        return groups.count <= 8 ? groups : nil
    }
}

extension IPv6Address: Comparable {
    /// Orders by number.
    public static func < (one: IPv6Address, other: IPv6Address) -> Bool {
        (one.high, one.low) < (other.high, other.low)
    }
}

extension IPv6Address {
    /// Whether the address is `::`.
    public var isUnspecified: Bool { high == 0 && low == 0 }
    /// Whether the address is `::1`.
    public var isLoopback: Bool { high == 0 && low == 1 }
    /// Whether the address is in fe80::/10 (RFC 4291 §2.5.6).
    public var isLinkLocal: Bool { high >> 54 == 0x3FA }
    /// Whether the address is in fc00::/7 (RFC 4193).
    public var isUniqueLocal: Bool { high >> 57 == 0x7E }
    /// Whether the address is in ff00::/8.
    public var isMulticast: Bool { high >> 56 == 0xFF }
    /// Whether the address is in ::ffff:0:0/96 (RFC 4291 §2.5.5.2), where the system uses the embedded IPv4 address.
    public var isIPv4Mapped: Bool { high == 0 && low >> 32 == 0xFFFF }
    /// Whether the address is in ::/96 (RFC 4291 §2.5.5.1, deprecated) and neither `::` nor `::1`.
    public var isIPv4Compatible: Bool { high == 0 && low >> 32 == 0 && low > 1 }
    /// Whether the address is in 64:ff9b::/96 (RFC 6052) or 64:ff9b:1::/48 (RFC 8215), from where a translator forwards
    /// to an IPv4 address.
    public var isNAT64: Bool { (high == 0x0064_FF9B_0000_0000 && low >> 32 == 0) || high >> 16 == 0x0064_FF9B_0001 }

    /// The IPv4 address within a mapped, compatible or 64:ff9b::/96 address; nil for others.
    public var embeddedIPv4: IPv4Address? {
        let isWellKnownNAT64 = isNAT64 && high == 0x0064_FF9B_0000_0000
        guard isIPv4Mapped || isIPv4Compatible || isWellKnownNAT64 else { return nil }
        return IPv4Address(bits: UInt32(truncatingIfNeeded: low))
    }
}
