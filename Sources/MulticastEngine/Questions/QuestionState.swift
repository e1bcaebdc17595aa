import DNSMessage

/// One question that is asked again and again, with its times. There may be tens of thousands.
struct QuestionState: Sendable {
    /// From the first question to the second, in seconds; each wait after that is longer, up to an hour.
    private static let firstInterval: UInt16 = 1
    private static let longestInterval: UInt16 = 3600
    /// So many questions for one name that somebody waits for go before all others.
    private static let hasty: UInt8 = 3

    let key: RecordKey
    /// In seconds.
    private var interval = firstInterval
    var users: Int32 = 1
    private(set) var next: Moment
    private var lastAsked = Moment.never
    private(set) var asked: UInt32 = 0
    let isShared: Bool
    /// Somebody waits for this one name.
    private var isNamed = false
    /// Questions that go before all others, still.
    private var hasteLeft: UInt8 = 0
    /// Somebody who asked listed an answer that is not known here: now, and ever.
    private(set) var isBehind = false
    private var wasBehind = false
    /// Due because the record grows old, whatever is known.
    private(set) var isRefresh = false

    init(_ key: RecordKey, isShared: Bool, isNamed: Bool, first: Duration) {
        self.key = key
        self.isShared = isShared
        self.isNamed = isNamed
        hasteLeft = isNamed ? Self.hasty : 0
        next = Moment(first)
    }

    /// It goes before those that are asked for lists.
    var isUrgent: Bool { hasteLeft > 0 && !isRefresh }

    /// How many times as long the next wait is (RFC 6762 §5.2: at least twice). Where many may answer each question costs all of them, for its
    /// known answers; where one does, nothing is gained by waiting longer.
    private var growth: UInt16 { isShared && interval > Self.firstInterval ? 3 : 2 }

    /// Not sooner than a second after it was asked last (RFC 6762 §5.2).
    private func earliest(at now: Duration) -> Duration {
        asked == 0 ? now : max(now, lastAsked.time + .seconds(Self.firstInterval))
    }

    /// Another's question takes the place of none that was just put: responders are silent for a second after they have answered (RFC 6762 §6).
    func wasJustAsked(at now: Duration) -> Bool { asked > 0 && now - lastAsked.time < .seconds(Self.firstInterval) / 2 }

    /// A responder takes two programs of one machine for one, and tells neither what the other has just listed as known: the next question
    /// comes a second later. Once, for not all that is listed is there.
    mutating func fellBehind(at now: Duration) {
        isBehind = true
        guard asked > 0, !wasBehind else { return }
        wasBehind = true
        next = Moment(now + .seconds(Self.firstInterval))
    }

    mutating func wasAsked(at now: Duration) {
        asked = min(asked, .max - 1) + 1
        lastAsked = Moment(now)
        isRefresh = false
        isBehind = false
        if hasteLeft > 0 { hasteLeft -= 1 }
        waitLonger(at: now)
    }

    mutating func waitLonger(at now: Duration) {
        next = Moment(now + .seconds(interval))
        interval = min(interval * growth, Self.longestInterval)
    }

    /// The record grows old.
    mutating func refresh(at now: Duration) {
        isRefresh = true
        next = Moment(earliest(at: now))
    }

    /// From the beginning, at this time or soon after it.
    mutating func restart(at time: Duration) {
        interval = Self.firstInterval
        if isNamed { hasteLeft = Self.hasty }
        next = Moment(earliest(at: time))
    }

    /// Somebody waits for it now.
    /// - Parameter isHeldUp: it was asked, but may not have been sent yet.
    mutating func hasten(isHeldUp: Bool, at now: Duration) {
        guard !isShared else { return }
        isNamed = true
        restart(at: now)
        if isHeldUp { next = Moment(now) }
    }

    /// After the whole link is asked anew: what lists bring with them comes before what is asked by itself.
    func isPatient(beside hasLists: Bool) -> Bool { hasLists && !isShared && !isNamed }
}
