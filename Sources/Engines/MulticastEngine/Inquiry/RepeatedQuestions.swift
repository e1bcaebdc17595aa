import DNSMessage

/// Questions that are asked again until they are answered or given up. A value.
package struct RepeatedQuestions: Sendable {
    private struct Asked {
        let question: Question
        let id: UInt16
        let start: Duration
        var count = 0
        var isAnswered = false
    }

    /// When a question is asked, since it was first wanted.
    static let times: [Duration] = [.zero, .milliseconds(300), .milliseconds(1100), .milliseconds(2200)]
    /// How long after the last time there may be an answer.
    private static let patience = Duration.milliseconds(400)
    /// The most questions.
    private static let limit = 96

    private var asked: [Asked] = []
    private let firstID: UInt16

    /// - Parameter firstID: the id of the first question; up to 96 follow.
    init(firstID: UInt16) { self.firstID = firstID }

    /// Asks from now on; nothing if it was asked before, or there are too many.
    mutating func ask(_ question: Question, at now: Duration) {
        guard asked.count < Self.limit, !asked.contains(where: { $0.question == question }) else { return }
        asked.append(Asked(question: question, id: firstID + UInt16(asked.count), start: now))
    }

    /// No longer asks.
    mutating func answered(where isAnswer: (Question) -> Bool) {
        for index in asked.indices where !asked[index].isAnswered && isAnswer(asked[index].question) {
            asked[index].isAnswered = true
        }
    }

    func isAsked(_ question: Question) -> Bool { asked.contains { $0.question == question } }

    /// Whether a response to a port that asked belongs to a question: it repeats its id (RFC 6762 §6.7).
    func owns(_ message: Message) -> Bool { asked.contains { $0.id == message.id } }

    /// What to send now, from both ports: some firewalls let only the one or the other answer pass.
    mutating func due(at now: Duration) -> [OutgoingQuestion] {
        var questions: [OutgoingQuestion] = []
        for index in asked.indices {
            guard let next = next(asked[index]), next <= now else { continue }
            asked[index].count += 1
            let (question, id) = (asked[index].question, asked[index].id)
            questions += [
                OutgoingQuestion(question, id: id, .group), OutgoingQuestion(question, id: 0, .shared),
            ].compactMap(\.self)
        }
        return questions
    }

    /// When something is due next, or given up.
    func deadline(after now: Duration) -> Duration? {
        asked.filter { !$0.isAnswered }.map { next($0) ?? Self.end($0) }.filter { $0 > now }.min()
    }

    /// Every question is answered or given up.
    func isOver(at now: Duration) -> Bool { asked.allSatisfy { $0.isAnswered || now >= Self.end($0) } }

    private func next(_ asked: Asked) -> Duration? {
        asked.isAnswered || asked.count >= Self.times.count ? nil : asked.start + Self.times[asked.count]
    }

    private static func end(_ asked: Asked) -> Duration { asked.start + (times.last ?? .zero) + patience }
}
