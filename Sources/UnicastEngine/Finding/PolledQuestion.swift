import DNSMessage

/// What is known by asking one question again and again, and when it is asked next.
///
/// A failure says nothing of what is known. A "no" to what was there is asked again at once, and believed only when it
/// stays a while: resolvers change when a VPN comes and goes.
struct PolledQuestion: Sendable {
    enum Known: Hashable, Sendable {
        /// There was no answer yet.
        case unknown
        case records([RecordData])
        case nothing(nameExists: Bool)
    }

    /// The shortest time between two questions, and the longest.
    static let bounds = Duration.seconds(5)...Duration.seconds(3600)
    /// How long a "no" to what was there must last.
    static let hold = Duration.seconds(10)
    /// Hosts have one family often: that the other is missing is not looked at more often.
    static let addressPatience = Duration.seconds(60)
    /// After a failure: doubled each time.
    private static let longestBackoff = Duration.seconds(60)
    /// How often in a row the zone's serial alone may vouch for it: servers of one zone are not always of one mind.
    private static let mostRenewals = 9

    private(set) var known = Known.unknown
    /// Why the last attempt brought no answer.
    private(set) var trouble: String?
    /// Attempts in a row without an answer.
    private(set) var failures = 0
    /// From one question to the next.
    private(set) var interval = Duration.zero
    /// The zone's serial of which this is known to be the truth.
    private(set) var serial: UInt32?
    private var server: ServerAddress?
    /// When nobody may remember the answer any more.
    private var expiry: Duration?
    private var renewals = 0
    private(set) var heldUntil: Duration?

    /// There was an answer, or an attempt at one.
    var isSettled: Bool { known != .unknown || failures > 0 }

    /// Records; none where there are none, or no answer came.
    var records: [RecordData] { if case .records(let records) = known { records } else { [] } }

    /// Asked again only where the serial has moved.
    func mayBeRenewed(by zone: AnswerReading.Zone) -> Bool {
        serial == zone.serial && renewals < Self.mostRenewals && canFollowSerial
    }

    var canFollowSerial: Bool { known != .unknown && failures == 0 && heldUntil == nil }

    /// - Parameters:
    ///   - sent: when the question was sent.
    ///   - jitter: 0 to 1.
    ///   - seen: a serial of the zone, and since when it has been seen.
    /// - Returns: when to ask next.
    mutating func answered(
        _ reading: AnswerReading, to type: RecordType, sent: Duration, at now: Duration, jitter: Double,
        seen: (serial: UInt32, since: Duration)? = nil
    ) -> Duration {
        switch reading.outcome {
        case .failure(let reason):
            trouble = reason
            failures += 1
            let backoff = min(Self.bounds.lowerBound * (1 << min(failures - 1, 10)), Self.longestBackoff)
            return now + backoff * (1 + jitter / 10)
        case .records(let records, let ttl):
            heldUntil = nil
            known = .records(records)
            return took(reading, ttl, sent: sent, at: now, jitter: jitter, seen: seen)
        case .nothing(let nameExists, let ttl):
            if case .records = known {
                let isOtherServer = reading.server != server
                guard let until = heldUntil else {
                    heldUntil = now + (isOtherServer ? max(Self.hold, interval) : Self.hold)
                    (failures, trouble) = (0, nil)
                    return now
                }
                guard now >= until else { return min(until, now + Self.bounds.lowerBound) }
            }
            heldUntil = nil
            known = .nothing(nameExists: nameExists)
            let patience = [.a, .aaaa].contains(type) ? max(ttl, Self.addressPatience) : ttl
            return took(reading, patience, sent: sent, at: now, jitter: jitter, seen: seen)
        }
    }

    /// The serial has not moved: it still holds.
    /// - Returns: when to ask next.
    mutating func renewed(at now: Duration, jitter: Double) -> Duration {
        renewals += 1
        return now + interval * (0.9 + jitter / 10)
    }

    private mutating func took(
        _ reading: AnswerReading, _ ttl: Duration, sent: Duration, at now: Duration, jitter: Double,
        seen: (serial: UInt32, since: Duration)?
    ) -> Duration {
        // What comes from a memory is as new as the serial only if it was fetched after that was seen: after the last answer had expired.
        let fetched = reading.isAuthoritative ? sent : reading.server == server ? expiry.filter { $0 <= sent } : nil
        serial = seen.flatMap { seen in fetched.map { $0 >= seen.since } == true ? seen.serial : nil }
        (failures, trouble, renewals) = (0, nil, 0)
        server = reading.server
        expiry = now + ttl
        interval = min(max(ttl, Self.bounds.lowerBound), Self.bounds.upperBound)
        // A resolver says the same until its memory ends; the zone's own server can be asked before.
        return now + interval * (reading.isAuthoritative ? 0.9 + jitter / 10 : 1 + jitter / 20)
    }
}

extension Optional {
    fileprivate func filter(_ isIncluded: (Wrapped) -> Bool) -> Wrapped? { flatMap { isIncluded($0) ? $0 : nil } }
}
