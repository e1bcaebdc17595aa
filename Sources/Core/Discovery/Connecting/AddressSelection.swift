package import DNSSD

/// The policy table and scopes of RFC 6724, which rank destination addresses.
extension IPAddress {
    /// A row of the policy table.
    package struct Policy: Hashable, Sendable {
        /// Destinations with a higher value are preferred.
        package let precedence: Int
        /// Source and destination match if their labels are equal.
        package let label: Int
    }

    /// The row for this address (RFC 6724 §2.1). IPv4 addresses are looked up as IPv4-mapped ones (§2.2).
    package var policy: Policy {
        guard case .v6(let address, _) = self else { return Policy(precedence: 35, label: 4) }
        switch true {
        case address.isLoopback: return Policy(precedence: 50, label: 0)
        case address.isIPv4Mapped: return Policy(precedence: 35, label: 4)
        case address.high >> 48 == 0x2002: return Policy(precedence: 30, label: 2)
        case address.high >> 32 == 0x2001_0000: return Policy(precedence: 5, label: 5)
        case address.isUniqueLocal: return Policy(precedence: 3, label: 13)
        case address.isSiteLocal: return Policy(precedence: 1, label: 11)
        case address.high >> 48 == 0x3FFE: return Policy(precedence: 1, label: 12)
        case address.high == 0 && address.low >> 32 == 0 && address.low > 1: return Policy(precedence: 1, label: 3)
        default: return Policy(precedence: 40, label: 1)
        }
    }

    /// 2 link-local, 5 site-local, 14 global (RFC 6724 §3.1); loopback counts as link-local (§3.2, §3.4).
    package var policyScope: Int {
        switch self {
        case .v4(let address): address.isLoopback || address.isLinkLocal ? 2 : 14
        case .v6(let address, _):
            if address.isMulticast {
                Int(address.high >> 48 & 0xF)
            } else if address.isLoopback || address.isLinkLocal {
                2
            } else {
                address.isSiteLocal ? 5 : 14
            }
        }
    }
}

extension IPv6Address {
    /// fec0::/10 (RFC 3879, deprecated)
    fileprivate var isSiteLocal: Bool { high >> 54 == 0x3FB }
}
