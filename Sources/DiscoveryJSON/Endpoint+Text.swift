public import DNSSD

extension Endpoint {
    /// The address as it can be dialled: `10.0.0.7`, `fe80::1%eth0`.
    public var addressText: String {
        guard case .v6(_, let scope) = address, scope != 0 else { return address.description }
        let bare = address.description.prefix { $0 != "%" }
        return "\(bare)%\(interface.name)"
    }
}
