/// Bounds on what the network can make a process keep, and times that hide short disturbances.
public struct DiscoveryLimits: Hashable, Sendable {
    /// The most services kept per query.
    public var services = 4096
    /// Services of one host (SRV target) that a full query keeps when other hosts need room; while there is room, a
    /// host may have any number.
    public var servicesPerHost = 64
    /// The most addresses kept per host.
    public var addressesPerHost = 32
    /// The most types that `browseAll` browses for.
    public var types = 256
    /// How long a service must be gone before its removal is reported. Avahi adds a second of its own (RFC 6762 §10.1).
    public var removalHold: Duration = .milliseconds(3100)
    /// The same for a service withdrawn while its host stays, which a finder reports a second after the goodbye (RFC
    /// 6762 §10.1): by then a restarted program has announced its service again.
    public var withdrawalHold: Duration = .milliseconds(280)
    /// The same while this machine's own interface is down: after an interruption of 3 s, Avahi needs 2 s more to find
    /// services again.
    public var linkHold: Duration = .seconds(10)
    /// How long some of a host's addresses must be gone before they are removed; for all of them it is `removalHold`.
    public var addressHold: Duration = .milliseconds(1500)
    /// How long `found` waits for a service to be resolved.
    public var resolutionLimit: Duration = .seconds(6)
    /// How long `found` waits for further interfaces when services are not resolved.
    public var sightingWindow: Duration = .milliseconds(30)
    /// The shortest time between two changes of one service, or its end and its return, that are reported.
    public var changeInterval: Duration = .seconds(1)
    /// The shortest time between two notices of the same kind.
    public var noticeInterval: Duration = .seconds(60)

    /// The defaults.
    public init() {}
}
