import DNSSD

/// One service at one origin: the families over which it is seen there, and its answer.
struct CatalogSite: Sendable {
    private struct Shrink: Hashable {
        let resolution: Resolution
        let since: Duration
    }

    private(set) var presence = Presence<IPAddress.Family?>()
    /// This machine publishes it.
    private(set) var isOwn = false
    /// What is reported: includes addresses that have been gone for only a short while.
    private(set) var resolution: Resolution?
    private var shrink: Shrink?
    /// How long the origin's report waits for an answer; nil once it has answered or timed out.
    private var awaitedUntil: Duration?
    /// It no longer answers.
    private(set) var isFailing = false

    init(awaitedUntil: Duration) { self.awaitedUntil = awaitedUntil }

    /// Its answer may be reported.
    var isReady: Bool { awaitedUntil == nil }

    func nextDeadline(_ limits: DiscoveryLimits) -> Duration? {
        [presence.nextDeadline, awaitedUntil, shrink.map { Self.end(of: $0, limits) }].compactMap(\.self).min()
    }

    mutating func appeared(_ family: IPAddress.Family?, isOwn: Bool) {
        presence.appeared(family)
        self.isOwn = isOwn
    }

    mutating func disappeared(_ family: IPAddress.Family?, holdUntil deadline: Duration) {
        presence.disappeared(family, holdUntil: deadline)
    }

    mutating func stopWaiting() { awaitedUntil = nil }

    mutating func failed() {
        isFailing = true
        awaitedUntil = nil
    }

    /// Applies an answer; holds addresses missing from it, because a returning link brings them back.
    mutating func resolved(_ new: Resolution, now: Duration) {
        isFailing = false
        awaitedUntil = nil
        guard let old = resolution, old.targets.map(\.host) == new.targets.map(\.host),
            Self.isShrunk(new.addresses, from: old.addresses)
        else {
            resolution = new
            shrink = nil
            return
        }
        shrink = Shrink(resolution: new, since: shrink?.since ?? now)
        var kept = new
        (kept.target.addresses, kept.alternatives) = (old.target.addresses, old.alternatives)
        kept.isAuthenticated = old.isAuthenticated && new.isAuthenticated
        resolution = kept
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
            resolution = shrink.resolution
            self.shrink = nil
        }
    }

    private static func end(of shrink: Shrink, _ limits: DiscoveryLimits) -> Duration {
        shrink.since + (shrink.resolution.addresses.isEmpty ? limits.removalHold : limits.addressHold)
    }

    private static func isShrunk(_ new: [IPAddress], from old: [IPAddress]) -> Bool {
        let old = Set(old)
        return Set(new).isStrictSubset(of: old)
    }
}
