import DNSMessage
package import DNSSD

/// One question, asked several times of a host that has answered it: how many of the packets arrive. A value.
package struct AnswerSample: Sendable {
    /// How often it is asked.
    package static let size = 8
    private static let interval = Duration.milliseconds(30)
    /// How long an answer may take.
    private static let patience = Duration.milliseconds(700)

    package let host: IPAddress
    /// How many of the questions were answered.
    package var answered: Int { answers.count }
    private let question: Question
    private let interface: NetworkInterface
    private let start: Duration
    private let firstID: UInt16
    private var sent = 0
    private var answers: Set<UInt16> = []

    init(_ question: Question, of arrival: Arrival, firstID: UInt16, at now: Duration) {
        (self.question, host, interface, self.firstID) = (question, arrival.sender, arrival.interface, firstID)
        start = now
    }

    mutating func due(at now: Duration) -> [OutgoingQuestion] {
        guard sent < Self.size, next <= now else { return [] }
        defer { sent += 1 }
        return [
            OutgoingQuestion(question, id: firstID + UInt16(sent), .link(interface, host.family))
        ].compactMap(\.self)
    }

    mutating func received(_ message: Message, _ arrival: Arrival) {
        guard arrival.sender == host, arrival.interface == interface, arrival.way == .answer,
            (0..<sent).contains(Int(message.id) - Int(firstID))
        else { return }
        answers.insert(message.id)
    }

    func deadline(after now: Duration) -> Duration? {
        if isOver(at: now) { return nil }
        return sent < Self.size ? next : end
    }

    func isOver(at now: Duration) -> Bool { answers.count == Self.size || now >= end }

    private var next: Duration { start + Self.interval * sent }
    private var end: Duration { start + Self.interval * Self.size + Self.patience }
}
