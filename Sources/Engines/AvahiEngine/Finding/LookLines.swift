import DiscoverySystem

/// Limits how many names are looked at at a time. Used only on the loop's thread.
final class LookLines {
    let loop: EventLoop
    /// The number of names that sleep until their next look; they keep count.
    var sleeping = 0
    /// Each look queries the network, and with more at a time 1000 services take longer (docs/performance.md).
    private let lines: [WatchedName.Subject: BoundedLine] = [
        .service: BoundedLine(atMost: 64), .host: BoundedLine(atMost: 32),
    ]
    private var clock = RefreshClock()

    init(loop: EventLoop) { self.loop = loop }

    /// Begins a look when its turn comes, or at once if it is urgent.
    /// - Parameter begin: begins the look; false: it is not wanted any more.
    func add(_ subject: WatchedName.Subject, isUrgent: Bool, _ begin: @escaping () -> Bool) {
        if isUrgent { lines[subject]?.beginNow(begin) } else { lines[subject]?.add(begin) }
    }

    /// A look that was begun is over.
    func finished(_ subject: WatchedName.Subject) { lines[subject]?.finished() }

    /// The connection is gone: nothing that waits is wanted any more.
    func clear() { for line in lines.values { line.clear() } }

    /// Returns the time until the next look.
    /// - Parameter looks: the number of looks that found nothing new.
    func delay(afterLooks looks: Int) -> Duration { clock.delay(afterLooks: looks, among: sleeping) }
}

/// Decides when to look at a name again, because no lookup stays open to report a change
/// (docs/decisions/0014-nothing-is-held.md). A value.
///
/// A change is announced (RFC 6762 §8.4) and reaches avahi-daemon's cache at once; a look at the cache sends nothing to
/// the network. Records live for whole seconds and looks fall in between, so records that arrived with the service do
/// not expire during a look.
struct RefreshClock {
    /// The interval in seconds after the first looks, which come after 1, 2, 4 and 8 s: a service that has just
    /// appeared or changed is likely to change again.
    static let longest = 10
    /// The number of looks a second with many names, whose intervals grow accordingly.
    static let perSecond = 5
    /// The longest interval in seconds: the TTL of SRV and address records (RFC 6762 §10).
    static let limit = 120

    private var turn = 0

    /// Returns the time until the next look.
    /// - Parameters:
    ///   - looks: the number of looks since the last change.
    ///   - count: the number of names that take turns.
    mutating func delay(afterLooks looks: Int, among count: Int) -> Duration {
        let own = looks < 4 ? 1 << max(looks, 0) : Self.longest
        let whole = min(max(own, count / Self.perSecond), Self.limit)
        // Spreads looks over the last quarter of the interval by the golden ratio, so that names found together are
        // not looked at together.
        turn = (turn + 618) % 1_000
        let seconds = Duration.seconds(whole - whole / 4 * turn / 1_000)
        return looks == 0 ? seconds + .milliseconds(350 + turn * 3 / 10) : seconds
    }
}
