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

    package let host: IPAddress
    private let question: Question
    private let interface: NetworkInterface
    /// It has answered to a port of its own before.
    private let hasAnswered: Bool
    private var quick: Series
    private var slow: Series?
    /// Nothing more is asked or waited for.
    private(set) var isOver = false

    init(_ question: Question, of arrival: Arrival, firstID: UInt16, at now: Duration) {
        (self.question, host, interface) = (question, arrival.sender, arrival.interface)
        hasAnswered = arrival.way == .answer
        quick = Series(size: 8, least: 6, interval: .milliseconds(30), firstID: firstID, start: now)
    }

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
        if slow == nil, quick.isOver(at: now), !quick.isGood, hasAnswered || answered > 0 {
            slow = Series(
                size: 4, least: 4, interval: .milliseconds(190), firstID: quick.firstID + UInt16(quick.size), start: now
            )
        }
        isOver = isOver || (slow ?? quick).isOver(at: now)
        let id = slow == nil ? quick.due(at: now) : slow?.due(at: now)
        return [id.flatMap { OutgoingQuestion(question, id: $0, .link(interface, host.family)) }].compactMap(\.self)
    }

    mutating func received(_ message: Message, _ arrival: Arrival) {
        guard arrival.sender == host, arrival.interface == interface, arrival.way == .answer else { return }
        quick.received(message.id)
        slow?.received(message.id)
        if quick.isComplete || slow?.isComplete == true { isOver = true }
    }

    func deadline(after now: Duration) -> Duration? {
        if isOver { return nil }
        let series = slow ?? quick
        return series.next ?? series.end
    }
}
