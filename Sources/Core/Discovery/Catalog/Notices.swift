/// Limits notices of omissions to one of each kind per interval.
package struct Notices: Sendable {
    /// The engine's texts count as kinds; more than this many within one interval are dropped.
    private static let kinds = 16

    private let interval: Duration
    private var told: [String: Duration] = [:]

    package init(interval: Duration) { self.interval = interval }

    /// Whether to report a notice now.
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
