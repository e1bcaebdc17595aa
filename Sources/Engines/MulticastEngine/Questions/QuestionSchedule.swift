package import DNSMessage
package import DNSSD
import Discovery
import Records
import Responder

/// When to ask which question on a link (RFC 6762 §5.2), and which not to ask, because the answer is known or another
/// host asks.
///
/// A value: receives events with their times. `TokenBucket` bounds what is sent. Due questions wait while nothing may
/// be sent, and lookups by name go before lists and their thousands of names.
package struct QuestionSchedule: Sendable {
    /// How a question begins.
    package enum Kind: Hashable, Sendable {
        /// Many hosts may answer: asked again and again, because another may always appear. The first question waits for 20 to 120 ms where hosts
        /// may ask together (RFC 6762 §5.2; see `waitsUntil`).
        case shared
        /// One host answers: asked after this delay unless the answer has arrived, and again only until it has.
        case unique(after: Duration)
    }

    /// How urgently a question with one answer must be asked.
    package enum Need: Hashable, Sendable {
        /// Not at all: the answer is present, and what ends it restarts the question.
        case answered
        /// Not now: a host has denied it (RFC 6762 §6.1).
        case none
        /// At most twice: what is present may be enough.
        case little
        /// Until it is answered.
        case full
    }

    /// The cache's answers to a question.
    package struct Knowledge {
        /// Whether a question with one answer needs to be asked.
        package let need: Need
        /// Passes on the answers less than half of whose life has passed (RFC 6762 §7.1); there may be thousands.
        package let answers: ((ResourceRecord) -> Void) -> Void

        package init(need: Need, answers: @escaping ((ResourceRecord) -> Void) -> Void) {
            (self.need, self.answers) = (need, answers)
        }
    }

    /// How often to ask for answers that may not be needed.
    private static let fewQuestions = 2

    private static let firstWait = 20...120
    /// How long a list waits for others that are asked for in the same moment: they fit one packet (RFC 6762 §5.3).
    private static let gathering = Duration.milliseconds(2)
    /// When everything restarts, single names wait for what arrives with the answers to lists.
    private static let additionals = Duration.milliseconds(300)
    /// Another host's question replaces one that is due within this time (RFC 6762 §7.3).
    private static let suppression = Duration.seconds(1)
    /// The most questions put into packets at a time; the rest stay due.
    private static let batch = 512
    /// The same for what lists have led to: about a packet of them, so that what is answered meanwhile is not asked.
    private static let listedBatch = 32
    /// Packets reserved for lookups by name.
    private static let reserve = 5.0

    private var states = PartedArray<QuestionState?>()
    private var free: [Int32] = []
    private var places = PlaceIndex()
    /// What hosts are asked for that listed more than they answer for.
    private var budgets: [PacketSource: SourceBudget] = [:]
    private var rate: TokenBucket
    private var lanes = Lane.allCases.map { _ in QuestionLane() }
    private var burst = ListBurst()
    /// A packet of `.named` was sent while others waited: the next is theirs, so that lookups cannot block everything
    /// else.
    private var owesOthers = false
    /// Of the other two lanes, the one that had the last packet: where both have some, they take turns.
    private var lastOther = Lane.listed
    private var random: any RandomNumberGenerator & Sendable
    /// Until when first questions of lists wait (`Unrest`); nil for always.
    package var waitsUntil: Duration?
    /// When the lists leave that were asked for last, and need not wait.
    private var gathered = Duration.zero
    /// The questions that were taken from a budget, and not answered since.
    private var charged = 0

    /// Creates a schedule without questions.
    package init(
        rate: TokenBucket = TokenBucket(burst: 50, perSecond: 100),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.rate = rate
        self.random = random
    }

    /// The number of questions followed.
    package var count: Int { places.count }

    /// Returns whether a question has a follower.
    package func follows(_ key: RecordKey) -> Bool { place(of: key) != nil }

    /// Returns how often a question was asked, by us or by another host in our place.
    package func timesAsked(_ key: RecordKey) -> Int {
        place(of: key).flatMap { states[$0] }.map { Int($0.asked) } ?? 0
    }

    private func place(of key: RecordKey) -> Int? { places.find(key.code) { states[$0]?.key == key } }

    // MARK: Events

    /// Adds a follower of a question; one that has followers already is not asked again because of it, unless it becomes a list's.
    /// - Parameter source: who said that there is an answer; nil for whoever waits for a name. It has a budget.
    /// - Returns: when it is asked for the first time, or for the first time as a list's; nil if it has such followers.
    @discardableResult package mutating func ask(
        _ key: RecordKey, _ kind: Kind, from source: PacketSource? = nil, at now: Duration
    ) -> Duration? {
        if let place = place(of: key) {
            states[place]?.users &+= 1
            guard kind == .shared, states[place]?.isShared == false else { return nil }
            let first = now + listWait(at: now)
            change(key) { $0.becomeShared(at: first) }
            return states[place]?.next.time
        }
        let (wait, kind): (Duration, QuestionState.Kind) =
            switch kind {
            case .shared: (listWait(at: now), .shared)
            case .unique(let delay): (delay, delay == .zero ? .awaited : .listed)
            }
        let place = free.popLast().map { Int($0) } ?? states.count
        let state = QuestionState(key, kind, source: source, first: now + wait)
        if place == states.count { states.append(state) } else { states[place] = state }
        places.insert(place, key.code)
        if state.isFirstOfList { burst.listed(at: now) }
        queue(place)
        return now + wait
    }

    /// Records came that were not known.
    package mutating func heardNews(at now: Duration) { burst.heard(at: now) }

    private mutating func listWait(at now: Duration) -> Duration {
        waitsUntil.map { $0 <= now } ?? false ? gathering(at: now) : firstWait()
    }

    private mutating func gathering(at now: Duration) -> Duration {
        if gathered <= now { gathered = now + Self.gathering }
        return gathered - now
    }

    private mutating func firstWait() -> Duration { .milliseconds(Int.random(in: Self.firstWait, using: &random)) }

    /// Removes a follower of a question.
    package mutating func stop(_ key: RecordKey) {
        guard let place = place(of: key), let state = states[place] else { return }
        guard state.users == 1 else {
            states[place]?.users &-= 1
            return
        }
        if state.isCharged { charged -= 1 }
        states[place] = nil
        places.remove(place, key.code)
        free.append(Int32(clamping: place))
    }

    /// Records came. A source that answers what it was asked for may be asked for more.
    package mutating func answered(by records: [ResourceRecord], at now: Duration) {
        guard charged > 0 else { return }
        for record in records where !record.type.isShared && record.ttl > 0 {
            answered(RecordKey(record.name, record.type), at: now)
        }
    }

    private mutating func answered(_ key: RecordKey, at now: Duration) {
        guard let place = place(of: key), let source = states[place]?.takePayment() else { return }
        charged -= 1
        budgets[source]?.answered()
        for _ in 0..<SourceBudget.reward {
            guard let place = budgets[source]?.takeWaiting() else { break }
            if states[place]?.comeBack(from: source, at: now) == true { queue(place) }
        }
        if budgets[source]?.isWhole == true { budgets[source] = nil }
    }

    /// A watched record grows old: asks for it now (`RecordCache.advance`).
    package mutating func refresh(_ key: RecordKey, at now: Duration) { change(key) { $0.refresh(at: now) } }

    /// Asks a second after the last question, unless it is due sooner.
    package mutating func askSoon(_ key: RecordKey, at now: Duration) { change(key) { $0.askSoon(at: now) } }

    /// The answer has expired: asks from the beginning.
    package mutating func restart(_ key: RecordKey, at now: Duration) { change(key) { $0.restart(at: now) } }

    /// A caller waits for a name that is followed but not known: asks from the beginning, ahead of lists.
    package mutating func hasten(_ key: RecordKey, at now: Duration) {
        let isSending = isSending
        change(key) { $0.hasten(isHeldUp: isSending, at: now) }
    }

    private mutating func change(_ key: RecordKey, _ change: (inout QuestionState) -> Void) {
        guard let place = place(of: key), var state = states[place] else { return }
        change(&state)
        states[place] = state
        queue(place)
    }

    /// The link came back, or the machine woke: asks everything from the beginning. Lists go first, as at the start;
    /// their answers bring most of the rest.
    package mutating func restartAll(at now: Duration) {
        let hasLists = states.indices.contains { states[$0]?.isShared == true }
        for place in states.indices {
            guard let state = states[place] else { continue }
            let wait = state.isPatient(beside: hasLists) ? Self.additionals : state.isShared ? firstWait() : .zero
            states[place]?.restart(at: now + wait)
            queue(place)
        }
    }

    /// Processes another host's question for a multicast answer. It replaces ours if that is due soon, unless the host
    /// knows answers that we do not (RFC 6762 §7.3). Of two in a row one is ours: what others ask, no one may have been
    /// able to read.
    /// - Parameters:
    ///   - question: the question.
    ///   - knownAnswers: the answers that the host knows.
    ///   - counts: false if the question cannot replace ours and only shows which answers exist.
    ///   - now: the time.
    ///   - knows: returns whether an answer is known here.
    package mutating func heard(
        _ question: Question, knownAnswers: [ResourceRecord], counts: Bool = true, at now: Duration,
        knows: (RecordKey, RecordData) -> Bool
    ) {
        let key = RecordKey(question.name, question.type)
        guard let place = place(of: key), let state = states[place] else { return }
        let unknown = unknown(knownAnswers, to: key, knows)
        guard unknown.isEmpty else { return change(key) { $0.fellBehind(unknown, at: now) } }
        guard counts, state.next.time <= now + Self.suppression, state.isReplaceable(at: now) else { return }
        states[place]?.wasAsked(by: .others, at: now)
        queue(place)
    }

    /// Processes known answers that another host lists behind its question, in a packet without one (RFC 6762 §7.2).
    package mutating func heardMore(
        _ knownAnswers: [ResourceRecord], at now: Duration, knows: (RecordKey, RecordData) -> Bool
    ) {
        for key in Set(knownAnswers.lazy.map { RecordKey($0.name, $0.type) }) where follows(key) {
            let unknown = unknown(knownAnswers, to: key, knows)
            if !unknown.isEmpty { change(key) { $0.fellBehind(unknown, at: now) } }
        }
    }

    private func unknown(
        _ answers: [ResourceRecord], to key: RecordKey, _ knows: (RecordKey, RecordData) -> Bool
    ) -> [RecordData] {
        answers.filter { $0.type == key.type && $0.name == key.name && !knows(key, $0.data) }.map(\.data)
    }

    /// Returns whether another host listed an answer that is still unknown here, and the question has not been asked
    /// since, or so soon that the answer may have been kept back.
    package func isBehind(_ key: RecordKey, knows: (RecordKey, RecordData) -> Bool) -> Bool {
        guard let state = place(of: key).flatMap({ states[$0] }) else { return false }
        return state.hasListedMore || state.listed.contains { !knows(key, $0) }
    }

    // MARK: Sending

    /// Whether packets are waiting to be sent.
    package var isSending: Bool { waitingOther != nil }

    /// Returns when to call `packets(at:knows:)`; nil for never.
    package func deadline(at now: Duration) -> Duration? {
        let soonest = rate.next(at: now)
        return Lane.allCases.compactMap { lane in
            self[lane].isEmpty
                ? self[lane].heap.first.map { max($0.deadline.time, opens(lane), soonest) }
                : rate.next(at: now, leaving: reserve(lane))
        }.min()
    }

    /// When a lane's questions may be put.
    private func opens(_ lane: Lane) -> Duration { lane == .listed ? burst.end : .zero }

    /// Returns the packets to send now.
    /// - Parameter knows: returns the cache's answers to a question.
    package mutating func packets(at now: Duration, knows: (RecordKey) -> Knowledge) -> [[UInt8]] {
        var sent: [[UInt8]] = []
        while let lane = nextLane(at: now, knows), rate.take(at: now, leaving: reserve(lane)),
            let packet = self[lane].takeFirst()
        {
            sent.append(packet)
            owesOthers = lane == .named && waitingOther != nil
            if lane != .named { lastOther = lane }
        }
        return sent
    }

    /// Takes the place of a packet that does not come from the schedule; returns false if there is none to spare.
    package mutating func takePlace(at now: Duration) -> Bool { rate.take(at: now, leaving: Self.reserve) }

    private subscript(lane: Lane) -> QuestionLane {
        get { lanes[lane.rawValue] }
        _modify { yield &lanes[lane.rawValue] }
    }

    private func reserve(_ lane: Lane) -> Double { lane != .named && !owesOthers ? Self.reserve : 0 }

    /// The lane, of those that are not lookups by name, whose packet is next.
    private var waitingOther: Lane? {
        let next: [Lane] = lastOther == .listed ? [.others, .listed] : [.listed, .others]
        return next.first { !self[$0].isEmpty }
    }

    /// Returns the lane of the next packet; nil if there is none.
    private mutating func nextLane(at now: Duration, _ knows: (RecordKey) -> Knowledge) -> Lane? {
        for lane in Lane.allCases where self[lane].isEmpty && opens(lane) <= now && rate.next(at: now) <= now {
            let due = takeDue(lane, at: now, knows)
            guard !due.isEmpty else { continue }
            self[lane].fill(QuestionPackets(due) { knows(RecordKey($0.name, $0.type)).answers($1) }.packets)
        }
        if owesOthers, let waitingOther { return waitingOther }
        return self[.named].isEmpty ? waitingOther : .named
    }

    private mutating func takeDue(_ lane: Lane, at now: Duration, _ knows: (RecordKey) -> Knowledge) -> [Question] {
        var due: [Question] = []
        let most = lane == .listed ? Self.listedBatch : Self.batch
        while due.count < most, let item = self[lane].heap.first, item.deadline.time <= now {
            _ = self[lane].heap.popFirst()
            guard var state = states[item.slot], state.next == item.deadline, self.lane(of: state) == lane else {
                continue
            }
            switch need(of: state, knows) {
            case .answered: state.wasAnswered(at: now)
            case .none: state.waitLonger(at: now)
            case .full where !mayAsk(&state, at: item.slot, now): break
            case .little, .full:
                due.append(Question(state.key.name, state.key.type))
                state.wasAsked(by: .us, at: now)
            }
            states[item.slot] = state
            queue(item.slot)
        }
        return due
    }

    private func need(of state: QuestionState, _ knows: (RecordKey) -> Knowledge) -> Need {
        guard !state.isShared, !state.isRefresh else { return .full }
        return switch knows(state.key).need {
        case .answered: .answered
        case .none: .none
        case .little: state.asked < Self.fewQuestions ? .little : .none
        case .full: .full
        }
    }

    /// Takes a question from the budget of whoever it depends on, or puts it off.
    private mutating func mayAsk(_ state: inout QuestionState, at place: Int, _ now: Duration) -> Bool {
        guard let source = state.debtor else { return true }
        guard budgets[source, default: SourceBudget()].take(at: now) else {
            if !state.isPutOff { budgets[source]?.putOff(place) }
            state.putOff(until: budgets[source]?.next ?? now)
            return false
        }
        if !state.isCharged { charged += 1 }
        state.wasCharged()
        return true
    }

    // MARK: Deadlines

    private func lane(of state: QuestionState) -> Lane {
        state.isUrgent ? .named : state.isFirstOfList ? .listed : .others
    }

    private mutating func queue(_ place: Int) {
        guard let state = states[place] else { return }
        let lane = lane(of: state)
        self[lane].heap.insert(DeadlineHeap.Item(deadline: state.next, slot: place))
        guard self[lane].heap.count > 2 * count + 64 else { return }
        let items = states.indices.compactMap { place in
            states[place].flatMap { state in
                self.lane(of: state) == lane ? DeadlineHeap.Item(deadline: state.next, slot: place) : nil
            }
        }
        self[lane].heap = DeadlineHeap(items)
    }
}
