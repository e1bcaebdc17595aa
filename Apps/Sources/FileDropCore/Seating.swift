/// Whose transfers run at a time: strangers leave most places to those who are known, so that they can keep no one else out.
public struct Seating: Sendable {
    /// The answer to a newcomer.
    public enum Answer: Hashable, Sendable {
        case enters
        /// This stranger, who has said nothing yet, must leave.
        case entersInPlaceOf(UInt64)
        case full
    }

    private struct Guest {
        let id: UInt64
        var isKnown: Bool
        var isSilent = true
    }

    private let limit: Int
    private let strangers: Int
    /// Oldest first.
    private var guests: [Guest] = []

    /// Creates empty places.
    /// - Parameters:
    ///   - limit: how many there are.
    ///   - strangers: how many of them strangers may have.
    public init(limit: Int, strangers: Int) {
        self.limit = limit
        self.strangers = strangers
    }

    /// Gives a newcomer a place, if there is one for it.
    /// - Parameter id: no other newcomer's.
    public mutating func enter(_ id: UInt64, isKnown: Bool) -> Answer {
        guard isKnown || guests.count(where: { !$0.isKnown }) < strangers else { return .full }
        var answer = Answer.enters
        if guests.count >= limit {
            guard isKnown, let silent = guests.firstIndex(where: { !$0.isKnown && $0.isSilent }) else { return .full }
            answer = .entersInPlaceOf(guests.remove(at: silent).id)
        }
        guests.append(Guest(id: id, isKnown: isKnown))
        return answer
    }

    /// A guest has introduced itself.
    public mutating func introduced(_ id: UInt64) { change(id) { $0.isSilent = false } }

    /// A stranger is let in: its place no longer counts as a stranger's.
    public mutating func admitted(_ id: UInt64) { change(id) { ($0.isSilent, $0.isKnown) = (false, true) } }

    /// Releases a place; one who had to leave has none.
    public mutating func leave(_ id: UInt64) { guests.removeAll { $0.id == id } }

    private mutating func change(_ id: UInt64, _ body: (inout Guest) -> Void) {
        if let index = guests.firstIndex(where: { $0.id == id }) { body(&guests[index]) }
    }
}
