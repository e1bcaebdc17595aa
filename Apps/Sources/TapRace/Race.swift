internal import DiscoveryJSON

/// The message of the race's two sides: `{"code":0,"count":17}`.
package struct TapMessage: Hashable, Sendable {
    /// The maximum length of a message in bytes.
    package static let maximumLength = 1000
    /// More taps than anyone can make in 30 s.
    package static let maximumCount = 1_000_000

    /// Code 0: playing.
    package static let playing = 0
    /// Code 1: over; the count is final.
    package static let over = 1

    package let isOver: Bool
    /// How often the sender has tapped.
    package let count: Int

    package init(count: Int, isOver: Bool) {
        self.count = count
        self.isOver = isOver
    }

    /// Nil if the bytes are not a message of the game.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maximumLength, let json = try? JSONReader.read(bytes),
            let code = json["code"]?.integer, code == Self.playing || code == Self.over,
            let count = json["count"]?.integer, (0...Self.maximumCount).contains(count)
        else { return nil }
        self.init(count: count, isOver: code == Self.over)
    }

    /// The encoded message.
    package var bytes: [UInt8] {
        var json = JSONWriter()
        json.object { object in
            object.member("code", isOver ? Self.over : Self.playing)
            object.member("count", count)
        }
        return json.bytes
    }
}

/// Both counts, and the winner.
package struct Race: Hashable, Sendable {
    /// The outcome for us.
    package enum Outcome: String, Hashable, Sendable {
        case won, lost, draw
    }

    package private(set) var mine = 0
    package private(set) var theirs = 0
    /// Our time is up.
    package private(set) var isOver = false
    /// The other side's time is up, and its count is final.
    package private(set) var isOverThere = false

    package init() {}

    /// - Returns: the message to send; nil after the end.
    package mutating func tapped() -> TapMessage? {
        guard !isOver, mine < TapMessage.maximumCount else { return nil }
        mine += 1
        return TapMessage(count: mine, isOver: false)
    }

    /// Call when our time is up.
    package mutating func timeIsUp() -> TapMessage {
        isOver = true
        return TapMessage(count: mine, isOver: true)
    }

    /// Takes the other side's message. Ignores a count that decreases, or comes after the final one.
    package mutating func received(_ message: TapMessage) {
        guard !isOverThere, message.count >= theirs else { return }
        theirs = message.count
        isOverThere = message.isOver
    }

    /// Known once both sides are done.
    package var outcome: Outcome? {
        guard isOver, isOverThere else { return nil }
        return mine == theirs ? .draw : mine > theirs ? .won : .lost
    }
}
