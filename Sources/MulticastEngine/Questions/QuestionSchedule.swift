package import DNSMessage

/// When which question is put to a link (RFC 6762 §5.2), and which need not be, for the answer is known or someone else asks.
///
/// A value that is told an event and a time. It bounds what is sent by `SendingRate`: what is due while nothing may be sent waits.
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
    /// From the first question to the second; each wait after that is longer, up to an hour.
    private static let firstInterval = Duration.seconds(1)
    private static let longestInterval = Duration.seconds(3600)
    /// Someone else's question takes the place of one that is due within this time (RFC 6762 §7.3).
    private static let suppression = Duration.seconds(1)
    /// Questions put into packets at one time; the rest is due still.
    private static let batch = 512

    private struct State: Sendable {
        var kind: Kind
        var users: Int
        var next: Duration
        var interval = firstInterval
        var asked = 0
        var lastAsked: Duration?
        var generation: UInt64
        var slot: Int
        /// Due because the record grows old, whatever is known.
        var isRefresh = false

        /// How many times as long the next wait is (RFC 6762 §5.2: at least twice). Where many may answer each question costs all of them, for its
        /// known answers; where one does, nothing is gained by waiting longer.
        var growth: Int {
            switch kind {
            case .shared: interval == firstInterval ? 2 : 3
            case .unique: 2
            }
        }

        /// Not sooner than a second after it was asked last (RFC 6762 §5.2).
        func earliest(at now: Duration) -> Duration { lastAsked.map { max(now, $0 + firstInterval) } ?? now }
    }

    private var states: [RecordKey: State] = [:]
    private var keys: [RecordKey?] = []
    private var free: [Int] = []
    private var heap = DeadlineHeap()
    private var generation: UInt64 = 0
    private var rate: SendingRate
    /// Packets that are made and may not be sent yet.
    private var outbox: [[UInt8]] = []
    private var random: any RandomNumberGenerator & Sendable

    /// Nothing to ask.
    package init(
        rate: SendingRate = SendingRate(), random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.rate = rate
        self.random = random
    }

    /// Questions that are followed.
    package var count: Int { states.count }

    /// How often a question was put, by us or by someone else in our place.
    package func timesAsked(_ key: RecordKey) -> Int { states[key]?.asked ?? 0 }

    // MARK: Events

    /// Someone wants to know. One who asks for what is asked already does not ask the link again.
    package mutating func ask(_ key: RecordKey, _ kind: Kind, at now: Duration) {
        guard states[key] == nil else {
            states[key]?.users += 1
            return
        }
        let wait: Duration =
            switch kind {
            case .shared: .milliseconds(Int.random(in: Self.firstWait, using: &random))
            case .unique(let delay): delay
            }
        let slot = free.popLast() ?? keys.count
        if slot == keys.count { keys.append(key) } else { keys[slot] = key }
        states[key] = State(kind: kind, users: 1, next: now + wait, generation: 0, slot: slot)
        queue(key)
    }

    /// Someone who asked no longer wants to know.
    package mutating func stop(_ key: RecordKey) {
        guard let state = states[key] else { return }
        guard state.users == 1 else {
            states[key]?.users -= 1
            return
        }
        states[key] = nil
        keys[state.slot] = nil
        free.append(state.slot)
    }

    /// A record that is watched grows old: it is asked for now (`RecordCache.advance`).
    package mutating func refresh(_ key: RecordKey, at now: Duration) {
        guard let state = states[key] else { return }
        states[key]?.isRefresh = true
        states[key]?.next = state.earliest(at: now)
        queue(key)
    }

    /// The answer has ended, the link came back, or the machine woke: asked from the beginning.
    package mutating func restart(_ key: RecordKey, at now: Duration) {
        guard let state = states[key] else { return }
        states[key]?.interval = Self.firstInterval
        states[key]?.next = state.earliest(at: now)
        queue(key)
    }

    /// The same for all that is asked.
    package mutating func restartAll(at now: Duration) { for key in keys.compactMap(\.self) { restart(key, at: now) } }

    /// Another host was heard to ask for a multicast answer: what it asks need not be asked again at once, unless it knows what we do not (RFC 6762 §7.3).
    package mutating func heard(
        _ question: Question, knownAnswers: [ResourceRecord], at now: Duration,
        knows: (RecordKey, RecordData) -> Bool
    ) {
        let key = RecordKey(question.name, question.type)
        guard let state = states[key], state.next <= now + Self.suppression else { return }
        let theirs = knownAnswers.lazy.filter { $0.type == key.type && $0.name == key.name }
        guard theirs.allSatisfy({ knows(key, $0.data) }) else { return }
        wasAsked(key, at: now)
    }

    /// Packets are made that may not be sent yet.
    package var isSending: Bool { !outbox.isEmpty }

    /// When `packets(at:knows:)` may have something to send; nil when never.
    package func deadline(at now: Duration) -> Duration? {
        guard outbox.isEmpty else { return rate.next(at: now) }
        return heap.first.map { max($0.deadline, rate.next(at: now)) }
    }

    /// What is to be sent now.
    package mutating func packets(at now: Duration, knows: (RecordKey) -> Knowledge) -> [[UInt8]] {
        var sent: [[UInt8]] = []
        while true {
            while !outbox.isEmpty, rate.take(at: now) { sent.append(outbox.removeFirst()) }
            guard outbox.isEmpty, rate.next(at: now) <= now else { return sent }
            let due = takeDue(at: now, knows)
            guard !due.isEmpty else { return sent }
            outbox = QuestionPackets(due) { knows(RecordKey($0.name, $0.type)).answers }.packets
        }
    }

    // MARK: Due questions

    private mutating func takeDue(at now: Duration, _ knows: (RecordKey) -> Knowledge) -> [Question] {
        var due: [Question] = []
        while due.count < Self.batch, let item = heap.first, item.deadline <= now {
            _ = heap.popFirst()
            guard let key = keys[item.slot], let state = states[key], state.generation == item.generation else {
                continue
            }
            if isNeeded(key, state, knows) {
                due.append(Question(key.name, key.type))
                wasAsked(key, at: now)
            } else {
                waitLonger(key, at: now)
            }
        }
        return due
    }

    private func isNeeded(_ key: RecordKey, _ state: State, _ knows: (RecordKey) -> Knowledge) -> Bool {
        guard case .unique = state.kind, !state.isRefresh else { return true }
        return switch knows(key).need {
        case .none: false
        case .little: state.asked < Self.fewQuestions
        case .full: true
        }
    }

    private mutating func wasAsked(_ key: RecordKey, at now: Duration) {
        states[key]?.asked += 1
        states[key]?.lastAsked = now
        states[key]?.isRefresh = false
        waitLonger(key, at: now)
    }

    private mutating func waitLonger(_ key: RecordKey, at now: Duration) {
        guard let state = states[key] else { return }
        states[key]?.next = now + state.interval
        states[key]?.interval = min(state.interval * state.growth, Self.longestInterval)
        queue(key)
    }

    private mutating func queue(_ key: RecordKey) {
        guard let state = states[key] else { return }
        generation &+= 1
        states[key]?.generation = generation
        heap.insert(DeadlineHeap.Item(deadline: state.next, slot: state.slot, generation: generation))
        guard heap.count > 2 * states.count + 64 else { return }
        heap = DeadlineHeap(
            states.values.map { DeadlineHeap.Item(deadline: $0.next, slot: $0.slot, generation: $0.generation) })
    }
}
