import DNSMessage

/// A question that is asked again and again: the newest answer, and the time of the next question.
///
/// A failure leaves the known answer in force. A negative answer that contradicts known records is asked for again at
/// once, and accepted only if it lasts: resolvers change when a VPN comes and goes.
struct PolledQuestion: Sendable {
    enum Known: Hashable, Sendable {
        /// No answer has come yet.
        case unknown
        case records([RecordData])
        case nothing(nameExists: Bool)
    }

    /// The shortest and the longest time between two questions.
    static let bounds = Duration.seconds(5)...Duration.seconds(3600)
    /// How long a negative answer must last before it replaces known records.
    static let hold = Duration.seconds(10)
    /// The shortest interval for a missing family of addresses, as many hosts have only one.
    static let addressPatience = Duration.seconds(60)
    /// The longest delay after a failure; the delay doubles each time.
    private static let longestBackoff = Duration.seconds(60)
    /// How often in a row the zone's serial alone may confirm an answer: the servers of one zone may disagree for a
    /// while.
    private static let mostRenewals = 9

    private(set) var known = Known.unknown
    /// Why the last attempt failed.
    private(set) var trouble: String?
    /// The number of failed attempts in a row.
    private(set) var failures = 0
    /// The time from one question to the next.
    private(set) var interval = Duration.zero
    /// The zone's serial to which the answer belongs; nil if that is not certain.
    private(set) var serial: UInt32?
    private(set) var origin = AnswerReading.Origin()
    /// When the answer has left every cache.
    private var expiry: Duration?
    private var renewals = 0
    private(set) var heldUntil: Duration?

    /// Whether there was an answer, or a failed attempt at one.
    var isSettled: Bool { known != .unknown || failures > 0 }

    /// The known records; empty without an answer.
    var records: [RecordData] { if case .records(let records) = known { records } else { [] } }

    /// Returns whether the zone's serial confirms the answer, so that the question need not be asked.
    func mayBeRenewed(by zone: AnswerReading.Zone) -> Bool {
        serial == zone.serial && renewals < Self.mostRenewals && canFollowSerial
    }

    var canFollowSerial: Bool { known != .unknown && failures == 0 && heldUntil == nil }

    /// Takes in an answer.
    /// - Parameters:
    ///   - reading: the answer.
    ///   - type: the question's type.
    ///   - sent: when the question was sent.
    ///   - now: the time.
    ///   - jitter: 0 to 1; spreads the time of the next question.
    ///   - seen: the zone's serial, and since when it has been seen.
    ///   - pace: the shortest interval among as many questions as there are.
    /// - Returns: when to ask next.
    mutating func answered(
        _ reading: AnswerReading, to type: RecordType, sent: Duration, at now: Duration, jitter: Double,
        seen: (serial: UInt32, since: Duration)? = nil, pace: Duration = .zero
    ) -> Duration {
        switch reading.outcome {
        case .failure(let reason):
            trouble = reason
            failures += 1
            let backoff = min(Self.bounds.lowerBound * (1 << min(failures - 1, 10)), Self.longestBackoff)
            return now + max(backoff, pace) * (1 + jitter / 10)
        case .records(let records, let ttl):
            heldUntil = nil
            known = .records(records)
            return took(reading, max(ttl, pace), sent: sent, at: now, jitter: jitter, seen: seen)
        case .nothing(let nameExists, let ttl):
            if case .records = known {
                let isOtherServer = reading.origin.server != origin.server
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
            return took(reading, max(patience, pace), sent: sent, at: now, jitter: jitter, seen: seen)
        }
    }

    /// The zone's serial has not changed, so the answer still holds.
    /// - Returns: when to ask next.
    mutating func renewed(at now: Duration, jitter: Double) -> Duration {
        renewals += 1
        return now + interval * (0.9 + jitter / 10)
    }

    private mutating func took(
        _ reading: AnswerReading, _ ttl: Duration, sent: Duration, at now: Duration, jitter: Double,
        seen: (serial: UInt32, since: Duration)?
    ) -> Duration {
        // An answer from a cache is as new as the serial only if it was fetched after the serial was first seen, which
        // is certain once the last answer has expired.
        let isSame = reading.origin.server == origin.server
        let fetched = reading.origin.isAuthoritative ? sent : isSame ? expiry.filter { $0 <= sent } : nil
        serial = seen.flatMap { seen in fetched.map { $0 >= seen.since } == true ? seen.serial : nil }
        (failures, trouble, renewals) = (0, nil, 0)
        origin = reading.origin
        expiry = now + ttl
        interval = min(max(ttl, Self.bounds.lowerBound), Self.bounds.upperBound)
        // A resolver repeats its answer until the TTL ends; the zone's own server can be asked earlier.
        return now + interval * (origin.isAuthoritative ? 0.9 + jitter / 10 : 1 + jitter / 20)
    }
}

extension Optional {
    fileprivate func filter(_ isIncluded: (Wrapped) -> Bool) -> Wrapped? { flatMap { isIncluded($0) ? $0 : nil } }
}

/// The serial of the zone that contains a list: while it stays the same, nothing in the zone has to be asked again.
struct ZoneSerial: Sendable {
    /// What to do with a question that is due.
    enum Advice { case ask, renew, readSerial }

    /// How long a serial counts after it was read.
    private static let freshness = Duration.seconds(5)
    /// How long to do without the serial after an answer that has none.
    private static let pause = Duration.seconds(60)

    /// The question for the serial, at the list's own name: the answer names the zone wherever that begins.
    let question: Question
    private var zone: AnswerReading.Zone?
    private var since = Duration.zero
    private var lastRead: Duration?
    private var pauseEnd = Duration.zero

    init(list: DomainName) { question = Question(list, .soa) }

    /// Returns the serial, and since when it has been seen; nil if the name may be in another zone.
    func seen(for name: DomainName) -> (serial: UInt32, since: Duration)? {
        guard let zone, covers(name, in: zone) else { return nil }
        return (zone.serial, since)
    }

    func advice(for name: DomainName, _ polled: PolledQuestion, at now: Duration) -> Advice {
        guard polled.canFollowSerial, now >= pauseEnd else { return .ask }
        guard let zone, let lastRead else { return .readSerial }
        guard covers(name, in: zone), zone.ttl <= polled.interval else { return .ask }
        guard now < lastRead + Self.freshness else { return .readSerial }
        return polled.mayBeRenewed(by: zone) ? .renew : .ask
    }

    mutating func answered(_ reading: AnswerReading, at now: Duration) {
        guard let new = reading.zone else {
            zone = nil
            pauseEnd = now + Self.pause
            return
        }
        if zone?.serial != new.serial || zone?.apex != new.apex { since = now }
        zone = new
        lastRead = now
    }

    /// Returns whether a name is certainly in the zone: at or below the list, or a host in a domain between the list
    /// and the zone's apex, where no other zone can begin.
    private func covers(_ name: DomainName, in zone: AnswerReading.Zone) -> Bool {
        let list = question.name
        if name.isWithin(list) { return true }
        guard let parent = name.parent else { return false }
        return list.isWithin(parent) && parent.isWithin(zone.apex)
    }
}
