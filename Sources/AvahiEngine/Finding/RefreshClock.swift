/// When a service is looked at again whose answer was taken: nothing is held open that would tell of a change
/// (docs/decisions/0014-nothing-is-held.md). A value.
///
/// What changes is announced (RFC 6762 §8.4), and is in avahi-daemon's cache at once; to look there asks the network nothing.
/// Records live for whole seconds, and looks lie between them: what came in with the service does not run out during a look.
struct RefreshClock {
    /// What was found or has changed just now is likely to change again: after 1, 2, 4, 8 s, and from then on this.
    static let longest = 10
    /// Many services have a longer turn, so that five a second are looked at …
    static let perSecond = 5
    /// … but none a longer one than this: the TTL of SRV and addresses (RFC 6762 §10).
    static let limit = 120

    private var turn = 0

    /// - Parameters:
    ///   - looks: how many looks there were since something changed.
    ///   - count: how many services are looked at in turn.
    mutating func delay(afterLooks looks: Int, among count: Int) -> Duration {
        let own = looks < 4 ? 1 << max(looks, 0) : Self.longest
        let whole = min(max(own, count / Self.perSecond), Self.limit)
        // From three quarters on, by the golden ratio: what was found at once is not looked at at once.
        turn = (turn + 618) % 1_000
        let seconds = Duration.seconds(whole - whole / 4 * turn / 1_000)
        return looks == 0 ? seconds + .milliseconds(350 + turn * 3 / 10) : seconds
    }
}
