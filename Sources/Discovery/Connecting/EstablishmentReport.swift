public import DNSSD

/// How a connection came about, or did not: every address that was considered, and what became of it.
public struct EstablishmentReport: Hashable, Sendable {
    /// What became of an address.
    public enum Outcome: String, Hashable, Sendable {
        /// It was connected to, and is the one that is used.
        case connected
        /// The host or the network said no.
        case refused
        /// Nothing answered in the time that was left.
        case timeout
        /// Another was faster, or the connection was no longer wanted.
        case cancelled
        /// The address policy forbids it: nothing was sent.
        case denied
    }

    /// One address.
    public struct Attempt: Hashable, Sendable {
        /// Which service; for a type there may be several.
        public let instance: ServiceInstance
        /// Where.
        public let endpoint: Endpoint
        /// What became of it.
        public let outcome: Outcome
        /// From the start of everything to the start of this attempt; nil when there was none.
        public let start: Duration?
        /// How long the attempt took.
        public let duration: Duration
        /// Why it failed, for people and safe for a terminal; nil for what needs no reason.
        public let reason: String?
        /// The address policy denied it, and an entry of its `allow` would permit it.
        public let canBeAllowed: Bool

        /// Creates a value.
        public init(
            instance: ServiceInstance,
            endpoint: Endpoint,
            outcome: Outcome,
            start: Duration? = nil,
            duration: Duration = .zero,
            reason: String? = nil,
            canBeAllowed: Bool = false
        ) {
            self.instance = instance
            self.endpoint = endpoint
            self.outcome = outcome
            self.start = start
            self.duration = duration
            self.reason = reason
            self.canBeAllowed = canBeAllowed
        }
    }

    /// Where the addresses came from.
    public enum Source: String, Hashable, Sendable {
        /// The caller had them.
        case given
        /// The network was asked for the service.
        case resolved
        /// The network was asked for all services of a type.
        case browsed
    }

    /// The service that was connected to, or else the last that was heard of.
    public var service: DiscoveredService?
    /// Where the addresses came from.
    public var source: Source
    /// How long it took until the first address was known; nil when none came.
    public var resolving: Duration?
    /// How long everything took.
    public var duration: Duration = .zero
    /// What was connected to.
    public var winner: Endpoint?
    /// In the order of their start; those that were denied first.
    public var attempts: [Attempt] = []

    /// A report of nothing yet.
    public init(source: Source) { self.source = source }

    /// Whether there were addresses and the policy forbids every one.
    public var isDeniedThroughout: Bool { !attempts.isEmpty && attempts.allSatisfy { $0.outcome == .denied } }
}
