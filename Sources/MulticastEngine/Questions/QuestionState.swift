import DNSMessage

/// A repeated question with its times. There may be tens of thousands.
struct QuestionState: Sendable {
    /// From the first question to the second, in seconds; each later interval is longer, up to an hour.
    private static let firstInterval: UInt16 = 1
    private static let longestInterval: UInt16 = 3600
    /// How many questions of a lookup by name go ahead of all others.
    private static let hasty: UInt8 = 3

    let key: RecordKey
    /// In seconds.
    private var interval = firstInterval
    var users: Int32 = 1
    private(set) var next: Moment
    private var lastAsked = Moment.never
    private(set) var asked: UInt32 = 0
    let isShared: Bool
    /// A caller waits for this name.
    private var isNamed = false
    /// How many more questions go ahead of all others.
    private var hasteLeft: UInt8 = 0
    /// Another host's question listed an answer unknown here: currently, and ever.
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

    /// It goes ahead of lists' names.
    var isUrgent: Bool { hasteLeft > 0 && !isRefresh }

    /// The factor of the next interval (RFC 6762 §5.2: at least two). A shared question and its known
    /// answers cost every host; for a unique one, a longer interval gains nothing.
    private var growth: UInt16 { isShared && interval > Self.firstInterval ? 3 : 2 }

    /// At the earliest a second after the last time (RFC 6762 §5.2).
    private func earliest(at now: Duration) -> Duration {
        asked == 0 ? now : max(now, lastAsked.time + .seconds(Self.firstInterval))
    }

    /// A question just asked is not replaced by another host's: responders are silent for a second after they answered
    /// (RFC 6762 §6).
    func wasJustAsked(at now: Duration) -> Bool { asked > 0 && now - lastAsked.time < .seconds(Self.firstInterval) / 2 }

    /// A responder takes two programs of one machine for one, and sends neither what the other has just listed as
    /// known: the next question comes a second later. Only once, because not everything listed exists.
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

    /// Asks from the beginning, at `time` or soon after.
    mutating func restart(at time: Duration) {
        interval = Self.firstInterval
        if isNamed { hasteLeft = Self.hasty }
        next = Moment(earliest(at: time))
    }

    /// A caller waits for it now.
    /// - Parameter isHeldUp: it was asked, but may not have been sent yet.
    mutating func hasten(isHeldUp: Bool, at now: Duration) {
        guard !isShared else { return }
        isNamed = true
        restart(at: now)
        if isHeldUp { next = Moment(now) }
    }

    /// When the whole link restarts, single names wait for what the answers to lists bring.
    func isPatient(beside hasLists: Bool) -> Bool { hasLists && !isShared && !isNamed }
}
