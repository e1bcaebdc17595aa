package import DNSMessage
import DNSSD

/// The requests that wait, each question once however many wait for it; and what nobody answered a moment ago. A value: it is given events
/// with their times.
package struct DeskTable<Ticket: Sendable>: Sendable {
    /// How long everybody's silence may take. A question is repeated after a second (RFC 6762 §5.2): an answer comes in a fraction of it.
    static var patience: Duration { .milliseconds(800) }
    /// How long a type may lag behind another of its name.
    static var lag: Duration { .milliseconds(300) }
    /// How long it counts that nobody answered for a name, and for one type of a name that somebody has. Who comes meanwhile announces itself
    /// (RFC 6762 §8.3), and is known then.
    package static var silence: Duration { .seconds(5) }
    static var typeSilence: Duration { .seconds(60) }
    /// The most questions that are open, waiters for them, and silences that are remembered.
    static var mostOpen: Int { 128 }
    static var mostWaiters: Int { 1024 }
    static var mostRemembered: Int { 1024 }

    /// What to do about a request.
    package enum Step: Hashable, Sendable {
        /// What is known is the answer.
        case answer
        /// Its question is to be asked.
        case ask
        /// Somebody has asked it.
        case wait
        case refuse
    }

    /// Those of a request who have their answer.
    package struct Done: Sendable {
        package let request: RecordRequest
        package let tickets: [Ticket]
    }

    private struct Open: Sendable {
        var since: Duration
        var answered: Duration?
        var waiters: [(wanted: RecordType, ticket: Ticket)] = []

        var deadline: Duration { min(since + patience, answered.map { $0 + lag } ?? since + patience) }
    }

    private struct Silence {
        let types: Set<RecordType>
        let end: Duration
    }

    private var open: [RecordRequest: Open] = [:]
    private var waiterCount = 0
    private var silences: [RecordRequest: Silence] = [:]
    private var budgets = QuestionBudgets(burst: 64, perSecond: 8)
    private var groups = QuestionBudgets(burst: 64, perSecond: 32)

    package init() {}

    /// Whether a request's question is still wanted.
    package func isOpen(_ request: RecordRequest) -> Bool { open[request] != nil }

    /// When to call `takeDue`; nil for never.
    package var deadline: Duration? { open.lazy.map(\.value.deadline).min() }

    /// Somebody asks.
    /// - Parameters:
    ///   - wanted: the type that is waited for, one of the request's.
    ///   - known: the request's types of which records are known, or that whoever has the name denies.
    package mutating func ask(
        _ request: RecordRequest, wanted: RecordType, _ ticket: Ticket, by asker: DeskAsker, known: Set<RecordType>,
        at now: Duration
    ) -> Step {
        let known = request.holders == .one ? known : []
        if known.contains(wanted) { return .answer }
        if let silence = silences[request], silence.end > now {
            if silence.types.contains(wanted) { return .answer }
        } else {
            silences[request] = nil
        }
        if open[request] != nil {
            guard waiterCount < Self.mostWaiters else { return .refuse }
            open[request]?.waiters.append((wanted, ticket))
            waiterCount += 1
            return .wait
        }
        guard open.count < Self.mostOpen, waiterCount < Self.mostWaiters, budgets.take(for: asker, at: now),
            groups.take(for: asker.group, at: now)
        else {
            return .refuse
        }
        open[request] = Open(since: now, answered: known.isEmpty ? nil : now, waiters: [(wanted, ticket)])
        waiterCount += 1
        return .ask
    }

    /// More is known of an open request.
    package mutating func learned(_ known: Set<RecordType>, of request: RecordRequest, at now: Duration) -> Done? {
        guard request.holders == .one, var entry = open[request], !known.isEmpty else { return nil }
        entry.answered = entry.answered ?? now
        let answered = entry.waiters.filter { known.contains($0.wanted) }
        entry.waiters.removeAll { known.contains($0.wanted) }
        waiterCount -= answered.count
        // Without a waiter, too: who asks for one family's addresses asks for the other's next.
        open[request] = known.isSuperset(of: request.types) ? nil : entry
        return Done(request: request, tickets: answered.map(\.ticket))
    }

    /// Takes the requests whose time is over.
    /// - Parameter known: what is known of one; empty where nobody has the name.
    package mutating func takeDue(at now: Duration, known: (RecordRequest) -> Set<RecordType>) -> [Done] {
        let due = open.filter { $0.value.deadline <= now }
        return due.map { request, entry in
            open[request] = nil
            waiterCount -= entry.waiters.count
            let known = known(request)
            // Who has not answered now is asked again after a while, and announces itself.
            let silent = Set(request.types).subtracting(request.holders == .one ? known : [])
            remember(
                request, Silence(types: silent, end: now + (known.isEmpty ? Self.silence : Self.typeSilence)), at: now)
            return Done(request: request, tickets: entry.waiters.map(\.ticket))
        }
    }

    private mutating func remember(_ request: RecordRequest, _ silence: Silence, at now: Duration) {
        if silences.count >= Self.mostRemembered { silences = silences.filter { $0.value.end > now } }
        if silences.count < Self.mostRemembered { silences[request] = silence }
    }
}

/// How many questions each asker may have asked of the links.
package struct QuestionBudgets: Sendable {
    /// The most askers that are counted apart; further ones have one budget together.
    static let mostAskers = 256

    /// What one has that has not asked yet.
    private let full: TokenBucket
    private var accounts: [DeskAsker?: TokenBucket] = [:]
    /// When those that are full again were last forgotten.
    private var swept: Duration?

    /// - Parameters:
    ///   - burst: how many at once.
    ///   - perSecond: how many in each second after that.
    package init(burst: Double, perSecond: Double) { full = TokenBucket(burst: burst, perSecond: perSecond) }

    /// Takes one question; false where the asker has none left.
    package mutating func take(for asker: DeskAsker, at now: Duration) -> Bool {
        if accounts[asker] == nil, accounts.count >= Self.mostAskers, swept.map({ now - $0 >= .seconds(1) }) ?? true {
            swept = now
            accounts = accounts.filter { !$0.value.isFull(at: now) }
        }
        let key = accounts[asker] != nil || accounts.count < Self.mostAskers ? asker : nil
        return accounts[key, default: full].take(at: now)
    }
}
