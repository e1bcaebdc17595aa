package import DNSMessage

/// When which question is put to a link (RFC 6762 §5.2), and which need not be, for the answer is known or someone else asks.
///
/// A value that is told an event and a time. It bounds what is sent by `SendingRate`: what is due while nothing may be sent waits, and a
/// question for one name that somebody waits for goes before those of lists and their thousands.
package struct QuestionSchedule: Sendable {
    /// How a question begins.
    package enum Kind: Hashable, Sendable {
        /// Many may answer: asked after 20 to 120 ms, so that hosts that start together do not ask together (RFC 6762 §5.2), and
        /// then again and again, for there may always be one more.
        case shared
        /// One host answers: asked after this time unless the answer is there by then, and again only while there is none.
        case unique(after: Duration)
    }

    /// How much a question with one answer has to be asked.
    package enum Need: Hashable, Sendable {
        /// Not at all: the answer is there, or a host has said that there is none (RFC 6762 §6.1).
        case none
        /// Twice at most: what is there may do.
        case little
        /// Until there is an answer.
        case full
    }

    /// What the cache has for a question.
    package struct Knowledge {
        /// Whether more are needed, for a question with one answer.
        package let need: Need
        private let known: () -> [ResourceRecord]

        /// Answers less than half of whose life is over (RFC 6762 §7.1). Made when they are read: there may be thousands.
        package var answers: [ResourceRecord] { known() }

        package init(answers: @autoclosure @escaping () -> [ResourceRecord], need: Need) {
            self.need = need
            known = answers
        }
    }

    /// How often what may not be needed is asked for.
    private static let fewQuestions = 2

    private static let firstWait = 20...120
    /// Where everything is asked anew, single names wait for what the answers to lists bring with them.
    private static let additionals = Duration.milliseconds(300)
    /// Someone else's question takes the place of one that is due within this time (RFC 6762 §7.3).
    private static let suppression = Duration.seconds(1)
    /// Questions put into packets at one time; the rest is due still.
    private static let batch = 512
    /// Packets that lists leave for names that somebody waits for.
    private static let reserve = 5

    private enum Lane: Int, CaseIterable {
        /// Names that somebody waits for.
        case named
        case others
    }

    private var states: [QuestionState?] = []
    private var free: [Int32] = []
    private var places = PlaceIndex()
    private var rate: SendingRate
    private var lanes = Lane.allCases.map { _ in QuestionLane() }
    /// A packet of `.named` was sent while others waited: the next is theirs, so that nobody's names keep all else from being asked.
    private var owesOthers = false
    private var random: any RandomNumberGenerator & Sendable

    /// Nothing to ask.
    package init(
        rate: SendingRate = SendingRate(), random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.rate = rate
        self.random = random
    }

    /// Questions that are followed.
    package var count: Int { places.count }

    /// Somebody asks for it.
    package func follows(_ key: RecordKey) -> Bool { place(of: key) != nil }

    /// How often a question was put, by us or by someone else in our place.
    package func timesAsked(_ key: RecordKey) -> Int {
        place(of: key).flatMap { states[$0] }.map { Int($0.asked) } ?? 0
    }

    private func place(of key: RecordKey) -> Int? { places.find(key.shortHash) { states[$0]?.key == key } }

    // MARK: Events

    /// Someone wants to know. One who asks for what is asked already does not ask the link again.
    package mutating func ask(_ key: RecordKey, _ kind: Kind, at now: Duration) {
        if let place = place(of: key) {
            states[place]?.users &+= 1
            return
        }
        let wait: Duration =
            switch kind {
            case .shared: firstWait()
            case .unique(let delay): delay
            }
        let place = free.popLast().map { Int($0) } ?? states.count
        let state = QuestionState(
            key, isShared: kind == .shared, isNamed: kind == .unique(after: .zero), first: now + wait)
        if place == states.count { states.append(state) } else { states[place] = state }
        places.insert(place, key.shortHash)
        queue(place)
    }

    private mutating func firstWait() -> Duration { .milliseconds(Int.random(in: Self.firstWait, using: &random)) }

    /// Someone who asked no longer wants to know.
    package mutating func stop(_ key: RecordKey) {
        guard let place = place(of: key), let state = states[place] else { return }
        guard state.users == 1 else {
            states[place]?.users &-= 1
            return
        }
        states[place] = nil
        places.remove(place, key.shortHash)
        free.append(Int32(clamping: place))
    }

    /// A record that is watched grows old: it is asked for now (`RecordCache.advance`).
    package mutating func refresh(_ key: RecordKey, at now: Duration) { change(key) { $0.refresh(at: now) } }

    /// The answer has ended: asked from the beginning.
    package mutating func restart(_ key: RecordKey, at now: Duration) { change(key) { $0.restart(at: now) } }

    /// Somebody waits for one name that is followed already and not known: asked from the beginning, before lists.
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

    /// The link came back, or the machine woke: everything is asked from the beginning. Lists first, as they are asked for the first time;
    /// their answers bring most of the rest.
    package mutating func restartAll(at now: Duration) {
        let hasLists = states.contains { $0?.isShared == true }
        for place in states.indices {
            guard let state = states[place] else { continue }
            let wait = state.isPatient(beside: hasLists) ? Self.additionals : state.isShared ? firstWait() : .zero
            states[place]?.restart(at: now + wait)
            queue(place)
        }
    }

    /// Someone was heard to ask for a multicast answer: what it asks need not be asked again at once, unless it knows what we do not
    /// (RFC 6762 §7.3).
    /// - Parameter counts: false where it takes no question's place, and only says what is there.
    package mutating func heard(
        _ question: Question, knownAnswers: [ResourceRecord], counts: Bool = true, at now: Duration,
        knows: (RecordKey, RecordData) -> Bool
    ) {
        let key = RecordKey(question.name, question.type)
        guard let place = place(of: key), let state = states[place] else { return }
        let theirs = knownAnswers.lazy.filter { $0.type == key.type && $0.name == key.name }
        guard theirs.allSatisfy({ knows(key, $0.data) }) else { return change(key) { $0.fellBehind(at: now) } }
        guard counts, state.next.time <= now + Self.suppression, !state.wasJustAsked(at: now) else { return }
        states[place]?.wasAsked(at: now)
        queue(place)
    }

    /// Somebody has listed an answer that was not known here, and it has not been asked for since.
    package func isBehind(_ key: RecordKey) -> Bool { place(of: key).flatMap { states[$0]?.isBehind } ?? false }

    // MARK: Sending

    /// Packets are made that may not be sent yet.
    package var isSending: Bool { !self[.others].isEmpty }

    /// When `packets(at:knows:)` may have something to send; nil when never.
    package func deadline(at now: Duration) -> Duration? {
        let soonest = rate.next(at: now)
        return Lane.allCases.compactMap { lane in
            self[lane].isEmpty
                ? self[lane].heap.first.map { max($0.deadline.time, soonest) }
                : rate.next(at: now, leaving: reserve(lane))
        }.min()
    }

    /// What is to be sent now.
    package mutating func packets(at now: Duration, knows: (RecordKey) -> Knowledge) -> [[UInt8]] {
        var sent: [[UInt8]] = []
        while let lane = nextLane(at: now, knows), rate.take(at: now, leaving: reserve(lane)),
            let packet = self[lane].takeFirst()
        {
            sent.append(packet)
            owesOthers = lane == .named && !self[.others].isEmpty
        }
        return sent
    }

    private subscript(lane: Lane) -> QuestionLane {
        get { lanes[lane.rawValue] }
        _modify { yield &lanes[lane.rawValue] }
    }

    private func reserve(_ lane: Lane) -> Int { lane == .others && !owesOthers ? Self.reserve : 0 }

    /// Whose packet is the next; nil: there is none.
    private mutating func nextLane(at now: Duration, _ knows: (RecordKey) -> Knowledge) -> Lane? {
        for lane in Lane.allCases where self[lane].isEmpty && rate.next(at: now) <= now {
            let due = takeDue(lane, at: now, knows)
            guard !due.isEmpty else { continue }
            self[lane].fill(QuestionPackets(due) { knows(RecordKey($0.name, $0.type)).answers }.packets)
        }
        if owesOthers, !self[.others].isEmpty { return .others }
        return !self[.named].isEmpty ? .named : !self[.others].isEmpty ? .others : nil
    }

    private mutating func takeDue(_ lane: Lane, at now: Duration, _ knows: (RecordKey) -> Knowledge) -> [Question] {
        var due: [Question] = []
        while due.count < Self.batch, let item = self[lane].heap.first, item.deadline.time <= now {
            _ = self[lane].heap.popFirst()
            guard var state = states[item.slot], state.next == item.deadline, self.lane(of: state) == lane else {
                continue
            }
            if isNeeded(state, knows) {
                due.append(Question(state.key.name, state.key.type))
                state.wasAsked(at: now)
            } else {
                state.waitLonger(at: now)
            }
            states[item.slot] = state
            queue(item.slot)
        }
        return due
    }

    private func isNeeded(_ state: QuestionState, _ knows: (RecordKey) -> Knowledge) -> Bool {
        guard !state.isShared, !state.isRefresh else { return true }
        return switch knows(state.key).need {
        case .none: false
        case .little: state.asked < Self.fewQuestions
        case .full: true
        }
    }

    // MARK: Deadlines

    private func lane(of state: QuestionState) -> Lane { state.isUrgent ? .named : .others }

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
