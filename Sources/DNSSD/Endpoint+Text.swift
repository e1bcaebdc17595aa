extension Endpoint {
    /// The address as it can be dialled: `fe80::1%eth0` when link-local, otherwise plain. The interface's name is not
    /// escaped.
    public var addressText: String { address.text(scopedTo: interface) }
}

extension Endpoint: CustomStringConvertible {
    /// `10.0.0.7:9000` or `[fe80::1%eth0]:9000`; safe for a terminal.
    public var description: String {
        let address = addressText.escapedForTerminal
        return self.address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}

extension Endpoint: Comparable {
    /// By family, address, port and interface, those of no interface first.
    public static func < (one: Endpoint, other: Endpoint) -> Bool {
        guard (one.address, one.port) == (other.address, other.port) else {
            return (one.address, one.port) < (other.address, other.port)
        }
        guard let mine = one.interface, let theirs = other.interface else {
            return one.interface == nil && other.interface != nil
        }
        return mine < theirs
    }
}
