/// Bounds against a network that says too much, and the times that keep short disturbances from being reported.
public struct DiscoveryLimits: Hashable, Sendable {
    /// Services kept in one query.
    public var services = 4096
    /// Services of one host (SRV target) that a full query keeps when others need the room; while there is room a host may have any number.
    public var servicesPerHost = 64
    /// Addresses kept of one host.
    public var addressesPerHost = 32
    /// Types that `browseAll` asks for.
    public var types = 256
    /// How long a service must be gone before that is reported. Avahi takes a second of its own (RFC 6762 §10.1).
    public var removalHold: Duration = .milliseconds(3100)
    /// The same when it was withdrawn while its host stayed, which a finder reports a second after the goodbye (RFC 6762 §10.1): a
    /// service whose program was restarted is announced again by then.
    public var withdrawalHold: Duration = .milliseconds(280)
    /// The same when it is out of sight because this machine's own interface is down: down for 3 s, Avahi needs 2 s more to find again
    /// what is there.
    public var linkHold: Duration = .seconds(10)
    /// How long some of a host's addresses must be gone; for all of them it is `removalHold`.
    public var addressHold: Duration = .milliseconds(1500)
    /// How long `found` waits for a service to be resolved.
    public var resolutionLimit: Duration = .seconds(6)
    /// How long `found` waits for further interfaces when services are not resolved.
    public var sightingWindow: Duration = .milliseconds(30)
    /// The shortest time between two changes of one service that a subscriber sees.
    public var changeInterval: Duration = .seconds(1)
    /// The shortest time between two notices of the same kind.
    public var noticeInterval: Duration = .seconds(60)

    /// The defaults.
    public init() {}
}
