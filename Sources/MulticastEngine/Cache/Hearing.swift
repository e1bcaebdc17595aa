import DNSSD

/// Over which families a record was heard, and when: a query over one family sees what came over it, whatever came over the other.
struct Hearing: Sendable {
    /// In seconds of the boot clock and one more; 0: never. Thousands of records hold these.
    private var ipv4: UInt32 = 0
    private var ipv6: UInt32 = 0

    /// - Parameter family: nil for both.
    init(over family: IPAddress.Family?, at now: Duration) { note(family, at: now) }

    /// Notes that it was heard over a family, nil for both.
    mutating func note(_ family: IPAddress.Family?, at now: Duration) {
        let time = UInt32(clamping: now.components.seconds) | 1
        if family != .ipv6 { ipv4 = time }
        if family != .ipv4 { ipv6 = time }
    }

    /// Forgets a family over which it was not heard for so many seconds.
    /// - Returns: the family.
    mutating func lapse(after ttl: UInt32, at now: Duration) -> IPAddress.Family? {
        let start = max(0, now.components.seconds - Int64(ttl) - 1)
        for family in IPAddress.Family.allCases where includes(family) && Int64(time(of: family)) < start {
            if family == .ipv4 { ipv4 = 0 } else { ipv6 = 0 }
            return family
        }
        return nil
    }

    func includes(_ family: IPAddress.Family) -> Bool { time(of: family) > 0 }

    private func time(of family: IPAddress.Family) -> UInt32 { family == .ipv4 ? ipv4 : ipv6 }
}
