import DNSMessage

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
