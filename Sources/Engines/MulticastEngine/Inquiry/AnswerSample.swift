import DNSMessage
package import DNSSD

/// One question, asked several times of a host that has answered it: how many of the packets arrive. A value.
///
/// A host that limits its answers looks like loss: it falls silent after some, and answers again after a time. It is told from loss by a second,
/// slower series, and by where the gaps are: what falls silent answers at most once more within a series.
package struct AnswerSample: Sendable {
    /// What the answers show.
    package enum Verdict: Sendable {
        /// The time was over before.
        case unknown
        case good
        /// Packets are lost.
        case lossy
        /// Packets are lost, or the host limits its answers.
        case unclear
        /// It answers the group alone.
        case silent
    }

    private struct Series {
        /// How long the last answer may take.
        private static let patience = Duration.milliseconds(700)

        let size: Int
        let least: Int
        let interval: Duration
        let firstID: UInt16
        let start: Duration
        var sent = 0
        var answers: Set<Int> = []

        var isGood: Bool { answers.count >= least }
        var isComplete: Bool { answers.count == size }
        /// When it asks next.
        var next: Duration? { sent < size ? start + interval * sent : nil }
        var end: Duration { start + interval * size + Self.patience }
        func isOver(at now: Duration) -> Bool { isComplete || now >= end }

        /// How many were answered after one that was not.
        var afterGap: Int {
            let gap = (0..<size).first { !answers.contains($0) } ?? size
            return answers.filter { $0 > gap }.count
        }

        /// The id of a question that is due.
        mutating func due(at now: Duration) -> UInt16? {
            guard let next, next <= now else { return nil }
            defer { sent += 1 }
            return firstID + UInt16(sent)
        }

        mutating func received(_ id: UInt16) {
            let place = Int(id) - Int(firstID)
            if (0..<sent).contains(place) { answers.insert(place) }
        }
    }

    private enum Stage {
        case quick, slow
        /// Nothing more is asked or waited for.
        case over
    }

    private let question: Question
    /// How it has answered before.
    private let arrival: Arrival
    private var stage = Stage.quick
    private var quick: Series
    private var slow: Series?

    init(_ question: Question, of arrival: Arrival, firstID: UInt16, at now: Duration) {
        (self.question, self.arrival) = (question, arrival)
        quick = Series(size: 8, least: 6, interval: .milliseconds(30), firstID: firstID, start: now)
    }

    package var host: IPAddress { arrival.sender }
    var isOver: Bool { stage == .over }
    /// It has answered to a port of its own before.
    private var hasAnswered: Bool { arrival.way == .answer }

    /// How many questions were asked, and how many of them were answered.
    package var asked: Int { quick.sent + (slow?.sent ?? 0) }
    package var answered: Int { quick.answers.count + (slow?.answers.count ?? 0) }

    package var verdict: Verdict {
        if quick.isGood || slow?.isGood == true { return .good }
        guard isOver else { return .unknown }
        if answered == 0, !hasAnswered { return .silent }
        return quick.afterGap > 1 ? .lossy : .unclear
    }

    mutating func due(at now: Duration) -> [OutgoingQuestion] {
        if stage == .quick, quick.isOver(at: now), !quick.isGood, hasAnswered || answered > 0 {
            stage = .slow
            slow = Series(
                size: 4, least: 4, interval: .milliseconds(190), firstID: quick.firstID + UInt16(quick.size), start: now
            )
        }
        if (slow ?? quick).isOver(at: now) { stage = .over }
        let id = slow == nil ? quick.due(at: now) : slow?.due(at: now)
        return [id.flatMap { OutgoingQuestion(question, id: $0, .link(arrival.interface, host.family)) }].compactMap(
            \.self)
    }

    mutating func received(_ message: Message, _ arrival: Arrival) {
        guard arrival.sender == host, arrival.interface == self.arrival.interface, arrival.way == .answer else {
            return
        }
        quick.received(message.id)
        slow?.received(message.id)
        if quick.isComplete || slow?.isComplete == true { stage = .over }
    }

    func deadline(after now: Duration) -> Duration? {
        if isOver { return nil }
        let series = slow ?? quick
        return series.next ?? series.end
    }
}
