/// Decides when to look at a resolved service again, because no lookup stays open to report a change
/// (docs/decisions/0014-nothing-is-held.md). A value.
///
/// A change is announced (RFC 6762 §8.4) and reaches avahi-daemon's cache at once; a look at the cache sends nothing to
/// the network. Records live for whole seconds and looks fall in between, so records that arrived with the service do
/// not expire during a look.
struct RefreshClock {
    /// The interval in seconds after the first looks, which come after 1, 2, 4 and 8 s: a service that has just
    /// appeared or changed is likely to change again.
    static let longest = 10
    /// The number of looks a second with many services, whose intervals grow accordingly.
    static let perSecond = 5
    /// The longest interval in seconds: the TTL of SRV and address records (RFC 6762 §10).
    static let limit = 120

    private var turn = 0

    /// Returns the time until the next look.
    /// - Parameters:
    ///   - looks: the number of looks since the last change.
    ///   - count: the number of services that take turns.
    mutating func delay(afterLooks looks: Int, among count: Int) -> Duration {
        let own = looks < 4 ? 1 << max(looks, 0) : Self.longest
        let whole = min(max(own, count / Self.perSecond), Self.limit)
        // Spreads looks over the last quarter of the interval by the golden ratio, so that services found together are
        // not looked at together.
        turn = (turn + 618) % 1_000
        let seconds = Duration.seconds(whole - whole / 4 * turn / 1_000)
        return looks == 0 ? seconds + .milliseconds(350 + turn * 3 / 10) : seconds
    }
}
