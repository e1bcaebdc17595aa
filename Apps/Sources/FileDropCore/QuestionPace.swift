public import PeerIdentity

/// Limits how often a person is asked: whoever connects can ask for it.
public struct QuestionPace: Sendable {
    /// How many questions a minute.
    public static let limit = 5

    /// How many of them about one key.
    public static let limitOfKey = 3

    private var start: ContinuousClock.Instant
    private var asked = 0
    private var keys: [KeyFingerprint: Int] = [:]

    /// Creates a pace without a question.
    public init(now: ContinuousClock.Instant) { start = now }

    /// - Returns: whether to ask now.
    public mutating func asks(of key: KeyFingerprint? = nil, now: ContinuousClock.Instant) -> Bool {
        if now - start >= .seconds(60) { (start, asked, keys) = (now, 0, [:]) }
        guard asked < Self.limit else { return false }
        if let key {
            guard keys[key, default: 0] < Self.limitOfKey else { return false }
            keys[key, default: 0] += 1
        }
        asked += 1
        return true
    }
}
