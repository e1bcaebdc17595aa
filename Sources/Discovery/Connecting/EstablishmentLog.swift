import DNSSD

/// Keeps a report while connecting goes on.
struct EstablishmentLog: Sendable {
    typealias Attempt = EstablishmentReport.Attempt
    /// More denied addresses than this are not listed: 8 services with as many as a host may have.
    private static let deniedLimit = 256

    private let origin: Duration
    private var denied: [Candidate] = []
    private var refusals: [Candidate: AddressPolicy.Refusal] = [:]
    private var starts: [(candidate: Candidate, time: Duration)] = []
    private var ends: [Candidate: (outcome: EstablishmentReport.Outcome, time: Duration, reason: String?)] = [:]
    /// How long it took until the first address was known.
    private(set) var resolving: Duration?

    init(now: Duration) { origin = now }

    mutating func learned(now: Duration) { resolving = resolving ?? now - origin }

    mutating func denied(_ candidate: Candidate, _ refusal: AddressPolicy.Refusal) {
        guard refusals[candidate] == nil, denied.count < Self.deniedLimit else { return }
        denied.append(candidate)
        refusals[candidate] = refusal
    }

    mutating func started(_ candidate: Candidate, now: Duration) { starts.append((candidate, now)) }

    /// Only the first end of an attempt counts.
    mutating func ended(
        _ candidate: Candidate,
        _ outcome: EstablishmentReport.Outcome,
        reason: String? = nil,
        now: Duration
    ) {
        guard ends[candidate] == nil else { return }
        ends[candidate] = (outcome, now, reason)
    }

    /// Attempts that did not end by themselves: they were cancelled, or had no more time.
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
