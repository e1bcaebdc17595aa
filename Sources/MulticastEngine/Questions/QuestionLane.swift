/// Questions that wait for their time, and packets that were made of some of them and wait for their turn.
struct QuestionLane: Sendable {
    /// When to look at which question.
    var heap = DeadlineHeap()
    /// The next is the last.
    private var packets: [[UInt8]] = []

    /// No packet waits.
    var isEmpty: Bool { packets.isEmpty }

    /// Takes in packets, in their order; there must be none.
    mutating func fill(_ packets: [[UInt8]]) { self.packets = packets.reversed() }

    mutating func takeFirst() -> [UInt8]? { packets.popLast() }
}
