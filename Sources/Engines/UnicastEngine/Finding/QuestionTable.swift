import DNSMessage
import DNSSD
import Discovery

/// The questions of one query: asks each when it is new and again when it is due, in order, a few at a time.
struct QuestionTable: Sendable {
    /// The most questions of one query that are under way.
    static let mostUnderWay = 16
    /// The bytes of records from which no TXT record is kept any more: whoever fills a zone decides how many there are.
    private static let mostWithTexts = 4 << 20
    /// The same for SRV records, addresses and owners, which are small and without which there is no service.
    private static let mostWithoutTexts = 4 * mostWithTexts

    private var questions: [Question: PolledQuestion] = [:]
    /// The bytes of the records that are kept.
    private var kept = 0
    private var deadlines = DeadlineTable<Question>()
    /// Questions to send as soon as there is room; those before `head` have been sent.
    private(set) var queue: [Question] = []
    private var head = 0
    private var queued: Set<Question> = []
    private var underWay: [Question: Duration] = [:]
    private var budget = QuestionBudget.whole
    private var serial: ZoneSerial?
    /// Questions that wait for the zone's serial.
    private var waiting: [Question] = []
    /// Records that came with the answer in `current`.
    private var additionals: [Question: AnswerReading.Outcome] = [:]
    private var current: AnswerReading?

    /// - Parameter list: a name in the zone whose serial is read before anything is asked again; nil to do without.
    init(followingSerialAt list: DomainName? = nil) { serial = list.map { ZoneSerial(list: $0) } }

    subscript(_ question: Question) -> PolledQuestion? { questions[question] }

    var deadline: Duration? {
        guard head < queue.count, underWay.count < Self.mostUnderWay else { return deadlines.next }
        let next = queue[head].isForList ? .zero : budget.next(at: .zero)
        return deadlines.next.map { min($0, next) } ?? next
    }

    /// Asks a question again and again, until it is dropped.
    mutating func want(_ question: Question, at now: Duration, jitter: Double) {
        guard questions[question] == nil else { return }
        var polled = PolledQuestion()
        // DNSSEC does not vouch for additional records, so they are asked for if the answer is authenticated.
        if let outcome = additionals[question], let current, !current.origin.isAuthenticated,
            hasRoom(for: outcome, of: question.type)
        {
            let reading = AnswerReading(outcome: outcome, origin: current.origin)
            deadlines.set(question, to: polled.answered(reading, to: question.type, sent: now, at: now, jitter: jitter))
            kept += polled.records.size
        } else {
            enqueue(question)
        }
        questions[question] = polled
    }

    mutating func drop(_ question: Question) {
        kept -= questions.removeValue(forKey: question)?.records.size ?? 0
        deadlines.set(question, to: nil)
    }

    /// Asks a question now, before it is due.
    mutating func hasten(_ question: Question) {
        guard questions[question] != nil else { return }
        deadlines.set(question, to: nil)
        enqueue(question)
    }

    /// Returns the questions to send now.
    mutating func due(at now: Duration, jitter: () -> Double) -> [Question] {
        for question in deadlines.due(now).sorted(by: { $0.precedes($1) }) { enqueue(question) }
        var sent: [Question] = []
        while underWay.count < Self.mostUnderWay, head < queue.count {
            let question = queue[head]
            guard question.isForList || budget.next(at: now) == now else { break }
            head += 1
            queued.remove(question)
            guard let polled = questions[question], underWay[question] == nil else { continue }
            switch serial?.advice(for: question.name, polled, at: now) ?? .ask {
            case .renew: deadlines.set(question, to: questions[question]?.renewed(at: now, jitter: jitter()))
            case .ask:
                if !question.isForList { _ = budget.take(at: now) }
                underWay[question] = now
                sent.append(question)
            case .readSerial:
                waiting.append(question)
                guard let first = serial?.question, underWay[first] == nil else { continue }
                underWay[first] = now
                sent.append(first)
            }
        }
        forgetSent()
        return sent
    }

    mutating func answered(_ question: Question, _ reading: AnswerReading, at now: Duration, jitter: Double) {
        guard let sent = underWay.removeValue(forKey: question) else { return }
        if question == serial?.question {
            serial?.answered(reading, at: now)
            let ready = waiting
            waiting = []
            for question in ready { enqueue(question) }
            return
        }
        guard var polled = questions[question] else { return }
        let before = polled.records
        var taken = reading
        if !hasRoom(for: reading.outcome, of: question.type, insteadOf: before) {
            let limit = Self.mostKept(of: question.type)
            taken.outcome = .failure(
                "a query keeps \(limit >> 20) MiB of DNS records, and there are more: the rest is left out")
        }
        let next = polled.answered(
            taken, to: question.type, sent: sent, at: now, jitter: jitter, seen: serial?.seen(for: question.name),
            pace: question.isForList ? .zero : QuestionBudget.pace(of: questions.count))
        questions[question] = polled
        if polled.records != before { kept += polled.records.size - before.size }
        deadlines.set(question, to: next)
        (additionals, current) = (reading.additionals, reading)
    }

    /// Drops the records that came with the last answer.
    mutating func forgetAdditionals() { (additionals, current) = ([:], nil) }

    /// Returns whether the records of an answer may be kept in the place of others.
    private func hasRoom(
        for outcome: AnswerReading.Outcome, of type: RecordType, insteadOf old: [RecordData] = []
    ) -> Bool {
        // A query has few lists, and each is one message at most. Without them it would have nothing.
        guard type != .ptr, case .records(let new, _) = outcome else { return true }
        // What is kept already is asked for again, though others have filled the room since.
        return new.size <= old.size || kept - old.size + new.size <= Self.mostKept(of: type)
    }

    private static func mostKept(of type: RecordType) -> Int { type == .txt ? mostWithTexts : mostWithoutTexts }

    /// Drops what has been sent, from time to time: the rest moves.
    private mutating func forgetSent() {
        if head == queue.count {
            (queue, head) = ([], 0)
        } else if head > 1024, head > queue.count / 2 {
            queue.removeFirst(head)
            head = 0
        }
    }

    private mutating func enqueue(_ question: Question) {
        guard queued.insert(question).inserted else { return }
        // What is there comes before what is known of it.
        if question.isForList { queue.insert(question, at: head) } else { queue.append(question) }
    }
}

extension Question {
    /// Whether it asks for a list, of which a query has few.
    fileprivate var isForList: Bool { type == .ptr }

    /// Orders by name, then by type.
    fileprivate func precedes(_ other: Question) -> Bool {
        name == other.name
            ? type.rawValue < other.type.rawValue : name.wire.lexicographicallyPrecedes(other.name.wire)
    }
}

extension [RecordData] {
    /// The approximate bytes that they take.
    fileprivate var size: Int {
        reduce(0) { sum, data in
            switch data {
            case .ptr(let name), .cname(let name), .ns(let name), .srv(_, _, _, let name): sum + 80 + name.wire.count
            case .txt(let bytes), .other(let bytes): sum + 80 + bytes.count
            default: sum + 48
            }
        }
    }
}

/// How many questions one query may ask. Whoever fills a zone decides how many names it has, and for how short a time an
/// answer holds; not how often it is asked.
enum QuestionBudget {
    /// The questions of each second after the first ones.
    private static let perSecond = 100.0

    /// At once as many as the longest list has that DNS can carry (docs/beyond-link.md).
    static var whole: TokenBucket { TokenBucket(burst: 10_000, perSecond: perSecond) }

    /// The shortest time between two askings of the same among as many questions: half of the budget is for what is new.
    static func pace(of count: Int) -> Duration { .seconds(Double(count) / (Self.perSecond / 2)) }
}
