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
