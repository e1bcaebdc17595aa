import DNSSD

/// One service on one interface: over which families it is seen there, and what it answered.
struct CatalogSite: Hashable, Sendable {
    private struct Shrink: Hashable {
        let addresses: [IPAddress]
        let since: Duration
    }

    private(set) var presence = Presence<IPAddress.Family>()
    /// What is told: an address that went away stays in it until it has been gone for a while.
    private(set) var resolution: Resolution?
    private var shrink: Shrink?
    /// Until when to wait for an answer before the interface is told; nil: it answered, or has had its time.
    private var awaitedUntil: Duration?
    /// It does not answer any more.
    private(set) var isFailing = false

    init(awaitedUntil: Duration) { self.awaitedUntil = awaitedUntil }

    /// What was learned here may be told.
    var isReady: Bool { awaitedUntil == nil }

    func nextDeadline(_ limits: DiscoveryLimits) -> Duration? {
        [presence.nextDeadline, awaitedUntil, shrink.map { Self.end(of: $0, limits) }].compactMap(\.self).min()
    }

    mutating func appeared(_ family: IPAddress.Family) { presence.appeared(family) }

    mutating func disappeared(_ family: IPAddress.Family, holdUntil deadline: Duration) {
        presence.disappeared(family, holdUntil: deadline)
    }

    mutating func stopWaiting() { awaitedUntil = nil }

    mutating func failed() {
        isFailing = true
        awaitedUntil = nil
    }

    /// Takes over an answer; addresses that are missing from it are held, for a link that comes back brings them back.
    mutating func resolved(_ new: Resolution, now: Duration) {
        isFailing = false
        if new.isComplete { awaitedUntil = nil }
        guard let old = resolution, old.host == new.host, Self.isShrunk(new.addresses, from: old.addresses) else {
            resolution = new
            shrink = nil
            return
        }
        shrink = Shrink(addresses: new.addresses, since: shrink?.since ?? now)
        resolution = new
        resolution?.addresses = old.addresses
    }

    mutating func backendLost() {
        presence.backendLost()
        shrink = nil
    }

    mutating func listed(holdUntil deadline: Duration) { presence.listed(holdUntil: deadline) }

    mutating func expire(_ now: Duration, _ limits: DiscoveryLimits) {
        presence.expire(now)
        if let awaitedUntil, awaitedUntil <= now { self.awaitedUntil = nil }
        if let shrink, Self.end(of: shrink, limits) <= now {
            resolution?.addresses = shrink.addresses
            self.shrink = nil
        }
    }

    private static func end(of shrink: Shrink, _ limits: DiscoveryLimits) -> Duration {
        shrink.since + (shrink.addresses.isEmpty ? limits.removalHold : limits.addressHold)
    }

    private static func isShrunk(_ new: [IPAddress], from old: [IPAddress]) -> Bool {
        let old = Set(old)
        return Set(new).isStrictSubset(of: old)
    }
}
