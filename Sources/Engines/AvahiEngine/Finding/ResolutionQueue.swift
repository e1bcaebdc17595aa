import DNSSD
import DiscoverySystem

/// Limits how many services, and addresses of hosts, are looked up at a time. Used only on the loop's thread.
final class ResolutionQueue {
    let loop: EventLoop
    /// The number of tasks that sleep until their next look; the tasks keep count.
    var sleeping = 0
    private var connection: AvahiConnection?
    /// Each resolver queries the network, and with more at a time 1000 services take longer (docs/performance.md).
    private let services = BoundedLine(atMost: 64)
    private let hosts = BoundedLine(atMost: 32)
    private var looks: [HostLook.Key: HostLook] = [:]
    private var clock = RefreshClock()

    init(loop: EventLoop) { self.loop = loop }

    func connected(_ connection: AvahiConnection) { self.connection = connection }

    /// The connection is gone or closing. Operations cancel their own tasks.
    func disconnected() {
        connection = nil
        services.clear()
        hosts.clear()
        for look in looks.values { look.free() }
        looks = [:]
    }

    /// Starts a task when its turn comes, or at once if it is urgent.
    func submit(_ task: ResolutionTask) {
        let begin: () -> Bool = { [weak self] in
            guard task.isWanted, let connection = self?.connection else { return false }
            task.begin(on: connection)
            return true
        }
        if task.isUrgent { services.beginNow(begin) } else { services.add(begin) }
    }

    /// A task has its SRV and TXT, or has given up.
    func finished() { services.finished() }

    /// Returns the time until a resolved task looks again.
    /// - Parameter looks: the number of looks that found nothing new.
    func delay(afterLooks looks: Int) -> Duration { clock.delay(afterLooks: looks, among: sleeping) }

    /// Looks up a host's addresses, or shares a look that is running or has just ended.
    /// - Parameters:
    ///   - key: the host, the interface and the families.
    ///   - known: addresses found before.
    ///   - isNew: whether there were few looks so far.
    ///   - told: receives the addresses; called at once if they are known.
    func addresses(
        at key: HostLook.Key, known: [IPAddress], isNew: Bool, told: @escaping ([IPAddress]) -> Void
    ) {
        guard let connection else { return }
        let look =
            looks[key]
            ?? HostLook(key, known: known, isNew: isNew, in: hosts, on: connection) { [weak self] in
                self?.looks.removeValue(forKey: key)?.free()
            }
        looks[key] = look
        look.whenOver(told)
    }
}

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
