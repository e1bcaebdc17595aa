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
            (self.instance, self.endpoint, self.outcome, self.start) = (instance, endpoint, outcome, start)
            (self.duration, self.reason, self.canBeAllowed) = (duration, reason, canBeAllowed)
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

/// Collects the report's contents during one call to connect.
struct EstablishmentLog: Sendable {
    typealias Attempt = EstablishmentReport.Attempt
    /// The most denied addresses that are listed.
    private static let deniedLimit = 256

    private let origin: Duration
    private var denied: [Candidate] = []
    private var refusals: [Candidate: AddressPolicy.Refusal] = [:]
    private var starts: [(candidate: Candidate, time: Duration)] = []
    private var ends: [Candidate: (outcome: EstablishmentReport.Outcome, time: Duration, reason: String?)] = [:]
    /// The time until the first address was known.
    private(set) var resolving: Duration?

    init(now: Duration) { origin = now }

    mutating func learned(now: Duration) { resolving = resolving ?? now - origin }

    mutating func denied(_ candidate: Candidate, _ refusal: AddressPolicy.Refusal) {
        guard refusals[candidate] == nil, denied.count < Self.deniedLimit else { return }
        denied.append(candidate)
        refusals[candidate] = refusal
    }

    mutating func started(_ candidate: Candidate, now: Duration) { starts.append((candidate, now)) }

    /// Records the end of an attempt; later ends of the same attempt are ignored.
    mutating func ended(
        _ candidate: Candidate,
        _ outcome: EstablishmentReport.Outcome,
        reason: String? = nil,
        now: Duration
    ) {
        guard ends[candidate] == nil else { return }
        ends[candidate] = (outcome, now, reason)
    }

    /// Ends the attempts that are still running: they were cancelled, or ran out of time.
    mutating func closed(_ outcome: EstablishmentReport.Outcome, reason: String?, now: Duration) {
        for (candidate, _) in starts { ended(candidate, outcome, reason: reason, now: now) }
    }

    /// Attempts that have not ended.
    var running: [Candidate] { starts.map(\.candidate).filter { ends[$0] == nil } }

    var attempts: [Attempt] {
        denied.map { candidate in
            Attempt(
                instance: candidate.instance, endpoint: candidate.endpoint, outcome: .denied,
                reason: refusals[candidate]?.description,
                canBeAllowed: refusals[candidate]?.canBeAllowed ?? false)
        }
            + starts.map { candidate, time in
                let end = ends[candidate]
                return Attempt(
                    instance: candidate.instance, endpoint: candidate.endpoint, outcome: end?.outcome ?? .cancelled,
                    start: time - origin, duration: (end?.time ?? time) - time, reason: end?.reason)
            }
    }
}
