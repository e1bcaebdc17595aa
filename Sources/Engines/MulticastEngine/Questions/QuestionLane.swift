/// Questions waiting for their time, and packets of such questions waiting to be sent.
struct QuestionLane: Sendable {
    /// The deadlines of the questions.
    var heap = DeadlineHeap()
    /// The packets in reverse order.
    private var packets: [[UInt8]] = []

    /// Whether no packet waits.
    var isEmpty: Bool { packets.isEmpty }

    /// Stores packets in order; the lane must be empty.
    mutating func fill(_ packets: [[UInt8]]) { self.packets = packets.reversed() }

    mutating func takeFirst() -> [UInt8]? { packets.popLast() }
}

extension QuestionSchedule {
    enum Lane: Int, CaseIterable {
        /// Lookups by name.
        case named
        case others
    }
}
