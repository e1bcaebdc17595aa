import Libc

/// What the system did with the questions that were sent last on a link. A value.
package enum QuestionDelivery: Hashable, Sendable {
    case sent
    /// It refused a packet over one family.
    case sentInPart
    /// It refused everything, so many times in a row.
    case refused(errno: Int32, inARow: Int)

    /// How often refused packets are repeated soon: enough for a firewall that drops at random, while one that drops
    /// everything never lets them pass.
    private static let mostRepeated = 8
    /// Those of a link that is going away, or has no address.
    private static let passing: Set = [ENETUNREACH, ENETDOWN, ENODEV]

    /// Notes what the system did with a packet over each family.
    /// - Parameter errors: 0 or errno.
    /// - Returns: whether it refused all of them, and they should be repeated soon, as the first few times in a row.
    package mutating func note(_ errors: [Int32]) -> Bool {
        guard let errno = errors.first, errors.allSatisfy({ $0 != 0 }) else {
            self = errors.allSatisfy { $0 == 0 } ? .sent : .sentInPart
            return false
        }
        let before = if case .refused(_, let inARow) = self { inARow } else { 0 }
        self = .refused(errno: errno, inARow: min(before, .max - 1) + 1)
        return before < Self.mostRepeated
    }

    /// The errno with which everything was refused; nil if something was sent.
    package var refusal: Int32? { if case .refused(let errno, _) = self { errno } else { nil } }

    /// The errno of a refusal that is told: none of an address that is still being checked (the link changes when it is), nor the first of a
    /// link that is going away, which is noticed before the next question.
    package var trouble: Int32? {
        guard case .refused(let errno, let inARow) = self, errno != EADDRNOTAVAIL else { return nil }
        return inARow > 1 || !Self.passing.contains(errno) ? errno : nil
    }
}
