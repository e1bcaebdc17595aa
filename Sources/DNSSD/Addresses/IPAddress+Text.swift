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
