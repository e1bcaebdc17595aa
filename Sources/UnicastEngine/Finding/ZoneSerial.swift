import DNSMessage

/// The serial of the zone that a list is in: while it stays the same, nothing of the zone has to be asked again.
struct ZoneSerial: Sendable {
    /// What to do with a question that is due.
    enum Advice { case ask, renew, readSerial }

    /// A serial that was read is good for so long.
    private static let freshness = Duration.seconds(5)
    /// It is not asked for again so soon where it was not told.
    private static let pause = Duration.seconds(60)

    /// Asked at the list's own name: the answer names the zone wherever it begins.
    let question: Question
    private var zone: AnswerReading.Zone?
    private var since = Duration.zero
    private var lastRead: Duration?
    private var pauseEnd = Duration.zero

    init(list: DomainName) { question = Question(list, .soa) }

    /// The serial, and since when it has been seen, for a name that is in the zone.
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

    /// The list's own name, what is below it, and hosts of a domain between it and the zone's beginning: no other zone begins there.
    private func covers(_ name: DomainName, in zone: AnswerReading.Zone) -> Bool {
        let list = question.name
        if name.isWithin(list) { return true }
        guard let parent = name.parent else { return false }
        return list.isWithin(parent) && parent.isWithin(zone.apex)
    }
}
