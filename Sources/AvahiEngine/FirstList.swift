import Discovery

/// When the first list of services is complete, as far as one can know. A value; times are given.
///
/// Avahi's `ALL_FOR_NOW` is a timer of one second, not an answer. With many services some answers are lost meanwhile: avahi-daemon
/// reads its socket too slowly, and its buffer is small. It asks again after a second (RFC 6762 §5.2), with the known answers in
/// several packets, for which responders wait up to 500 ms (§7.2) before they answer within 120 ms. So a crowd is waited for.
struct FirstList {
    /// From so many on, answers of avahi-daemon's first query may be lost.
    static let crowd = DiscoveryLimits.crowd
    /// How long nothing new must come before a crowd counts as complete.
    static let quiet = Duration.milliseconds(750)
    /// The longest wait after `ALL_FOR_NOW`, for a network that never falls silent. 4000 services take avahi-daemon ten seconds.
    static let limit = Duration.seconds(30)

    private var count = 0
    private var last: MonotonicTime?
    private var allForNow: MonotonicTime?

    /// A service was seen for the first time.
    mutating func appeared(at time: MonotonicTime) {
        count += 1
        last = time
    }

    /// Avahi has said `ALL_FOR_NOW`.
    mutating func wasAllForNow(at time: MonotonicTime) { allForNow = allForNow ?? time }

    /// When the list counts as complete if nothing more happens; nil before `ALL_FOR_NOW`.
    var completion: MonotonicTime? {
        guard let allForNow else { return nil }
        guard count >= Self.crowd, let last else { return allForNow }
        return min(max(last, allForNow) + Self.quiet, allForNow + Self.limit)
    }
}
