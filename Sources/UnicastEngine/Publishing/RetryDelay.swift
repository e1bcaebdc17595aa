/// The delay before the next try: doubles each time, and is spread so that many do not come together.
struct RetryDelay: Hashable, Sendable {
    static let first = Duration.seconds(1)
    static let longest = Duration.seconds(30)

    private var next = first

    /// Returns the delay after a failure.
    /// - Parameter jitter: 0 to 1; moves the delay between three quarters and five quarters of its value.
    mutating func failed(_ jitter: Double) -> Duration {
        let delay = next
        next = min(next * 2, Self.longest)
        return delay * (0.75 + jitter / 2)
    }

    mutating func succeeded() { next = Self.first }
}

/// Random numbers that a test can repeat (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func fraction() -> Double { Double.random(in: 0..<1, using: &self) }
}
