import DNSSD

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
                    instance: candidate.instance,
                    endpoint: candidate.endpoint,
                    outcome: end?.outcome ?? .cancelled,
                    start: time - origin,
                    duration: (end?.time ?? time) - time,
                    reason: end?.reason
                )
            }
    }
}
