/// An IPv4 or IPv6 address. An IPv6 address has a scope, without which a link-local one cannot be dialled (RFC 4007
/// §6).
public enum IPAddress: Hashable, Sendable {
    /// An IPv4 address.
    case v4(IPv4Address)
    /// An IPv6 address; `scope` is the interface index for link-local addresses, else 0.
    case v6(IPv6Address, scope: UInt32)

    /// The version of the Internet Protocol.
    public enum Family: String, Hashable, Sendable, CaseIterable {
        /// IPv4.
        case ipv4
        /// IPv6.
        case ipv6

        /// Both, in a set that thousands of claims share.
        package static let both = Set(allCases)
    }

    /// The address's family.
    public var family: Family {
        switch self {
        case .v4: .ipv4
        case .v6: .ipv6
        }
    }
}

/// An IPv4 address.
public struct IPv4Address: Hashable, Sendable {
    /// The address as one number; its first octet is the most significant byte.
    public let bits: UInt32

    /// Creates an address from a number whose most significant byte is the first octet.
    public init(bits: UInt32) { self.bits = bits }
}

/// An IPv6 address.
public struct IPv6Address: Hashable, Sendable {
    /// The first eight bytes as one number, the first byte most significant.
    public let high: UInt64
    /// The last eight bytes as one number, the first byte most significant.
    public let low: UInt64

    /// Creates an address from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

extension IPAddress {
    /// Whether the address is 0.0.0.0 or `::`.
    public var isUnspecified: Bool { kind(\.isUnspecified, \.isUnspecified) }
    /// Whether the address is in 127.0.0.0/8 or is `::1`.
    public var isLoopback: Bool { kind(\.isLoopback, \.isLoopback) }
    /// Whether the address is in 169.254.0.0/16 or fe80::/10.
    public var isLinkLocal: Bool { kind(\.isLinkLocal, \.isLinkLocal) }
    /// Whether the address is private (RFC 1918) or unique local (fc00::/7, RFC 4193).
    public var isPrivate: Bool { kind(\.isPrivate, \.isUniqueLocal) }
    /// Whether the address is in 224.0.0.0/4 or ff00::/8.
    public var isMulticast: Bool { kind(\.isMulticast, \.isMulticast) }
    /// Whether the address is 255.255.255.255.
    public var isBroadcast: Bool { self == .v4(IPv4Address(bits: .max)) }
    /// Whether the address is in ::ffff:0:0/96.
    public var isIPv4Mapped: Bool { kind({ _ in false }, \.isIPv4Mapped) }
    /// Whether the address is in 64:ff9b::/96 or 64:ff9b:1::/48.
    public var isNAT64: Bool { kind({ _ in false }, \.isNAT64) }

    private func kind(_ v4: (IPv4Address) -> Bool, _ v6: (IPv6Address) -> Bool) -> Bool {
        switch self {
        case .v4(let address): v4(address)
        case .v6(let address, _): v6(address)
        }
    }
}

extension IPAddress {
    /// An IPv4 address that is written as one of IPv6 is itself.
    package var unmapped: IPAddress {
        guard case .v6(let v6, _) = self, v6.isIPv4Mapped else { return self }
        return .v4(IPv4Address(bits: UInt32(truncatingIfNeeded: v6.low)))
    }

    /// What is counted together where connections are limited: an IPv4 address, or the 64 bits of an IPv6 one that a host chooses within (RFC
    /// 4291 §2.5.1).
    package var network: IPAddress {
        guard case .v6(let v6, _) = unmapped else { return unmapped }
        return .v6(IPv6Address(high: v6.high, low: 0), scope: 0)
    }
}

extension IPAddress: CustomStringConvertible {
    /// The address without its scope; `text(scopedTo:)` adds it.
    public var description: String {
        switch self {
        case .v4(let address): address.description
        case .v6(let address, _): address.description
        }
    }

    /// Reads an IPv4 address, or an IPv6 address with or without a numeric scope: `fe80::1%2`. Nil for any other text.
    public init?(_ text: String) {
        self.init(text) { scope in
            guard scope.utf8.allSatisfy(\.isASCIIDigit), let index = UInt32(scope), index > 0 else { return nil }
            return index
        }
    }

    /// Reads what `text(scopedTo:)` writes. The scope may also be the interface's name, and a link-local address
    /// without a scope gets the interface's.
    ///
    /// Nil if the scope is another interface. Without an interface, the same as `init(_:)`.
    public init?(_ text: String, on interface: NetworkInterface?) {
        guard let interface else {
            self.init(text)
            return
        }
        self.init(text) { scope in
            scope == interface.name || scope == String(interface.index) ? interface.index : nil
        }
        if case .v6(let address, scope: 0) = self, address.isLinkLocal { self = .v6(address, scope: interface.index) }
    }

    private init?(_ text: String, scope: (String) -> UInt32?) {
        if let address = IPv4Address(text) {
            self = .v4(address)
            return
        }
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPv6Address(String(first)) else { return nil }
        guard parts.count == 2 else {
            self = .v6(address, scope: 0)
            return
        }
        guard let scope = scope(String(parts[1])) else { return nil }
        self = .v6(address, scope: scope)
    }

    /// Returns the address in the form for dialling: `fe80::1%eth0` if it needs its interface (RFC 4007 §11).
    ///
    /// Without an interface, the scope is shown as its number.
    public func text(scopedTo interface: NetworkInterface?) -> String {
        guard case .v6(let address, let scope) = self, address.isLinkLocal || scope != 0 else { return description }
        if let interface { return "\(address)%\(interface.name)" }
        return scope == 0 ? description : "\(address)%\(scope)"
    }
}

extension IPAddress: Comparable {
    /// Orders IPv4 before IPv6, then by number, then by scope.
    public static func < (one: IPAddress, other: IPAddress) -> Bool {
        switch (one, other) {
        case (.v4(let one), .v4(let other)): one < other
        case (.v6(let one, let oneScope), .v6(let other, let otherScope)): (one, oneScope) < (other, otherScope)
        case (.v4, .v6): true
        case (.v6, .v4): false
        }
    }
}
