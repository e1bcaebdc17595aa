/// Keeps notices of things left out to one of a kind in an interval.
package struct Notices: Sendable {
    /// Texts of the engine count as kinds; more of them than this within one interval are not told.
    private static let kinds = 16

    private let interval: Duration
    private var told: [String: Duration] = [:]

    package init(interval: Duration) { self.interval = interval }

    /// Whether to tell a notice now.
    package mutating func shouldTell(_ kind: String, now: Duration) -> Bool {
        if let last = told[kind], now < last + interval { return false }
        if told.count >= Self.kinds {
            told = told.filter { now < $0.value + interval }
            guard told.count < Self.kinds else { return false }
        }
        told[kind] = now
        return true
    }
}
