/// Which of the newest 1024 numbers have come. A number counts once, and one that is too old to say counts as having come (RFC 4303 §3.4.3).
package struct ReplayWindow: Hashable, Sendable {
    /// How many numbers are told apart.
    package static let size: UInt64 = 1024

    private var newest: UInt64 = 0
    /// A bit for each number, at its place modulo `size`.
    private var bits = [UInt64](repeating: 0, count: Int(size / 64))

    package init() {}

    /// Whether a number has not come yet. Zero is no number.
    package func admits(_ number: UInt64) -> Bool {
        if number > newest { return true }
        guard number > 0, newest - number < Self.size else { return false }
        return bits[word(of: number)] & bit(of: number) == 0
    }

    /// Records a number that was admitted.
    package mutating func insert(_ number: UInt64) {
        guard admits(number) else { return }
        if number > newest {
            if number - newest >= Self.size {
                for index in bits.indices { bits[index] = 0 }
            } else {
                // They take the places of numbers that are too old now.
                for number in newest + 1...number { bits[word(of: number)] &= ~bit(of: number) }
            }
            newest = number
        }
        bits[word(of: number)] |= bit(of: number)
    }

    private func word(of number: UInt64) -> Int { Int(number % Self.size / 64) }

    private func bit(of number: UInt64) -> UInt64 { 1 << (number % 64) }
}
