import DNSMessage
import DNSSD
import Discovery

/// A repeated question with its times. There may be tens of thousands.
struct QuestionState: Sendable {
    /// From the first question to the second, in seconds; each later interval is longer, up to an hour.
    private static let firstInterval: UInt16 = 1
    private static let longestInterval: UInt16 = 3600
    /// Until a question is looked at again whose answer is present, in seconds.
    private static let answeredInterval: UInt16 = 8
    /// The number of questions with which a lookup by name goes ahead of all others.
    private static let hasty: UInt8 = 3

    enum Kind {
        /// Many hosts may answer.
        case shared
        /// One host answers for a name that another record has.
        case listed
        /// One host answers for a name that a caller waits for.
        case awaited
    }

    /// Who asks.
    enum Asker { case us, others }

    /// What it has to do with the budget of its source.
    private enum Account {
        case clear
        /// It was asked for from the budget, and not answered since.
        case charged
        /// It waits for its source to answer others.
        case putOff
        /// Both: it was asked for once, and its next time was put off.
        case chargedAndPutOff
    }

    let key: RecordKey
    /// The next interval in seconds.
    private var interval = firstInterval
    var users: Int32 = 1
    private(set) var next: Moment
    private var lastAsked = Moment.never
    private(set) var asked: UInt32 = 0
    private var lastAsker = Asker.us
    private var kind: Kind
    /// Who said that there is an answer.
    private let source: PacketSource?
    private var account = Account.clear
    /// The number of further questions that go ahead of all others.
    private var hasteLeft: UInt8 = 0
    /// Whether the question is due because a record grows old, whatever the cache knows.
    private(set) var isRefresh = false
    /// What others know; few questions have any of it.
    private var others: Shared<Others>?
    private struct Others {
        /// What they listed as answers and is unknown here, and was not asked for since; of more than `mostListed` a part.
        var listed: [RecordData] = []
        /// When they last did.
        var lastListed = Moment.never
        /// Whether their listing has had the question asked.
        var wasBehind = false
    }

    /// What others listed as answers and is unknown here, and was not asked for since; of more than `mostListed` a part.
    var listed: [RecordData] { others?.value.listed ?? [] }
    /// Whether they listed so much that only a part is kept.
    var hasListedMore: Bool { listed.count > Self.mostListed }
    private static let mostListed = 64
    /// How long after such a listing a question asks for nothing of it.
    ///
    /// A responder takes two programs on one machine for one, and does not send us what the other lists as known: avahi-daemon for 0.7 s,
    /// even if we ask then.
    private static let deafness = Duration.seconds(1)

    init(_ key: RecordKey, _ kind: Kind, source: PacketSource?, first: Duration) {
        (self.key, self.kind, self.source) = (key, kind, source)
        hasteLeft = kind == .awaited ? Self.hasty : 0
        next = Moment(first)
    }

    var isShared: Bool { kind == .shared }

    /// Whether it goes ahead of lists and their names.
    var isUrgent: Bool { hasteLeft > 0 && !isRefresh }

    /// Whether it follows from a list, and was not asked yet.
    var isFirstOfList: Bool { kind == .listed && asked == 0 && !isRefresh }

    /// Whose budget its next question takes from; nil for nobody's: what somebody waits for, and what is known.
    var debtor: PacketSource? { kind != .listed || isRefresh ? nil : source }

    /// Whether it waits for its source to answer others.
    var isPutOff: Bool { account == .putOff || account == .chargedAndPutOff }

    /// Whether it was taken from its source's budget, and not answered since.
    var isCharged: Bool { account == .charged || account == .chargedAndPutOff }

    mutating func wasCharged() { account = .charged }

    mutating func putOff(until time: Duration) {
        account =
            switch account {
            case .clear, .putOff: .putOff
            case .charged, .chargedAndPutOff: .chargedAndPutOff
            }
        next = Moment(time)
    }

    /// Its source answered another question.
    /// - Returns: whether it is due now; another question may have its place.
    mutating func comeBack(from source: PacketSource, at now: Duration) -> Bool {
        guard isPutOff, source == self.source else { return false }
        account = account == .putOff ? .clear : .charged
        next = Moment(now)
        return true
    }

    /// It was answered.
    /// - Returns: whose budget it was taken from; nil if from none.
    mutating func takePayment() -> PacketSource? {
        switch account {
        case .clear, .putOff: return nil
        case .charged: account = .clear
        case .chargedAndPutOff: account = .putOff
        }
        return source
    }

    /// The factor of the next interval (RFC 6762 §5.2: at least two). A shared question and its known
    /// answers cost every host; for a unique one, a longer interval gains nothing.
    private var growth: UInt16 { isShared && interval > Self.firstInterval ? 3 : 2 }

    /// Returns the earliest time to ask: a second after the last time (RFC 6762 §5.2).
    private func earliest(at now: Duration) -> Duration {
        asked == 0 ? now : max(now, lastAsked.time + .seconds(Self.firstInterval))
    }

    /// Returns whether another host's question can replace the next one: not if one has replaced the last, and not just
    /// after ours, because responders are silent for a second after they answered (RFC 6762 §6).
    func isReplaceable(at now: Duration) -> Bool {
        asked == 0 || lastAsker == .us && now - lastAsked.time >= .seconds(Self.firstInterval)
    }

    /// Another host or program listed an answer unknown here: asks again after a second, but only once, because not everything
    /// listed exists.
    mutating func fellBehind(_ unknown: some Sequence<RecordData>, at now: Duration) {
        var known = others?.value ?? Others()
        defer { others = Shared(known) }
        for data in unknown where !known.listed.contains(data) {
            if known.listed.count > Self.mostListed { break }
            known.listed.append(data)
        }
        known.lastListed = Moment(now)
        guard asked > 0, !known.wasBehind else { return }
        known.wasBehind = true
        next = Moment(now + .seconds(Self.firstInterval))
    }

    mutating func wasAsked(by asker: Asker, at now: Duration) {
        lastAsker = asker
        asked = min(asked, .max - 1) + 1
        lastAsked = Moment(now)
        isRefresh = false
        if let last = others?.value.lastListed, now - last.time >= Self.deafness { others?.value.listed = [] }
        if hasteLeft > 0 { hasteLeft -= 1 }
        waitLonger(at: now)
    }

    /// It was due, and its answer is present. Where that expires, it is due at once (`restart`); where it gave way to others for lack of room,
    /// the next look is soon enough.
    mutating func wasAnswered(at now: Duration) {
        interval = max(interval, Self.answeredInterval)
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

    /// Asks a second after the last question, unless it is due sooner.
    mutating func askSoon(at now: Duration) { next = min(next, Moment(earliest(at: now))) }

    /// Asks from the beginning, at `time` or soon after.
    mutating func restart(at time: Duration) {
        interval = Self.firstInterval
        if kind == .awaited { hasteLeft = Self.hasty }
        next = Moment(earliest(at: time))
    }

    /// A caller waits for it now.
    /// - Parameters:
    ///   - isHeldUp: whether it may have been counted as asked but not sent yet.
    ///   - now: the time.
    mutating func hasten(isHeldUp: Bool, at now: Duration) {
        guard !isShared else { return }
        kind = .awaited
        restart(at: now)
        if isHeldUp { next = Moment(now) }
    }

    /// All answers are wanted now, where one was enough: asks from the beginning, at `time` or soon after.
    mutating func becomeShared(at time: Duration) {
        (kind, hasteLeft) = (.shared, 0)
        restart(at: time)
    }

    /// Returns whether the question waits for the answers to lists when the whole link restarts.
    func isPatient(beside hasLists: Bool) -> Bool { hasLists && kind == .listed }
}
