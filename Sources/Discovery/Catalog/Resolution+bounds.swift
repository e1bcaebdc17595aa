import DNSSD

extension Resolution {
    /// The most SRV records kept per service.
    private static var targetLimit: Int { 8 }

    /// Drops what exceeds the bounds.
    /// - Returns: whether addresses were dropped.
    mutating func bound(addressesPerHost limit: Int) -> Bool {
        if alternatives.count >= Self.targetLimit { alternatives = Array(alternatives.prefix(Self.targetLimit - 1)) }
        var isOver = target.addresses.count > limit
        if isOver { _ = target.bound(addresses: limit) }
        for index in alternatives.indices { isOver = alternatives[index].bound(addresses: limit) || isOver }
        return isOver
    }
}

extension Resolution.Target {
    fileprivate mutating func bound(addresses limit: Int) -> Bool {
        guard addresses.count > limit else { return false }
        addresses = Array(addresses.sorted().prefix(limit))
        return true
    }
}
