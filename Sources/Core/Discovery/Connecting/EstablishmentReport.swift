public import DNSSD

/// Describes how connecting went: every address that was considered, and what became of it.
public struct EstablishmentReport: Hashable, Sendable {
    /// What became of an address.
    public enum Outcome: String, Hashable, Sendable {
        /// The connection was made and is the one in use.
        case connected
        /// The host or the network refused the connection.
        case refused
        /// No answer came before the time was up.
        case timeout
        /// Another attempt was faster, or the connection was no longer wanted.
        case cancelled
        /// The address policy forbids it; nothing was sent.
        case denied
    }

    /// One address that was considered.
    public struct Attempt: Hashable, Sendable {
        /// The service; attempts for a type may concern several.
        public let instance: ServiceInstance
        /// The address and port.
        public let endpoint: Endpoint
        /// What became of it.
        public let outcome: Outcome
        /// The time from the start of connecting to the start of this attempt; nil if it was denied.
        public let start: Duration?
        /// How long the attempt took.
        public let duration: Duration
        /// The reason for the failure, for people and safe for a terminal; nil if there is nothing to explain.
        public let reason: String?
        /// Whether the address policy denied it and an entry in its `allow` would permit it.
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
        /// The caller passed them.
        case given
        /// The service was resolved on the network.
        case resolved
        /// The network was browsed for services of a type.
        case browsed
    }

    /// The service that was connected to; without a connection, the last one found, if any.
    public var service: DiscoveredService?
    /// Where the addresses came from.
    public var source: Source
    /// The time until the first address was known; nil if none came.
    public var resolving: Duration?
    /// The time from the call to its end.
    public var duration: Duration = .zero
    /// The endpoint that was connected to.
    public var winner: Endpoint?
    /// The denied addresses, then the attempts in the order of their start.
    public var attempts: [Attempt] = []

    /// Creates an empty report.
    public init(source: Source) { self.source = source }

    /// Whether there were addresses and the policy denied every one.
    public var isDeniedThroughout: Bool { !attempts.isEmpty && attempts.allSatisfy { $0.outcome == .denied } }
}
