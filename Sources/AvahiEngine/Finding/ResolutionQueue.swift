import DNSSD
import System

/// Whose turn it is to be resolved: a few services, and of those the addresses of a few hosts, at a time. Used only on the loop's thread.
final class ResolutionQueue {
    let loop: EventLoop
    /// How many tasks sleep until they look again; theirs to count.
    var sleeping = 0
    private var connection: AvahiConnection?
    /// Every resolver asks the wire again: with more at a time 1000 services take longer, not shorter (docs/performance.md).
    private let services = BoundedLine(atMost: 64)
    private let hosts = BoundedLine(atMost: 32)
    private var looks: [HostLook.Key: HostLook] = [:]
    private var clock = RefreshClock()

    init(loop: EventLoop) { self.loop = loop }

    func connected(_ connection: AvahiConnection) { self.connection = connection }

    /// The connection is gone, or about to go; tasks belong to their operations, which cancel them.
    func disconnected() {
        connection = nil
        services.clear()
        hosts.clear()
        for look in looks.values { look.free() }
        looks = [:]
    }

    /// Begins a task in its turn; one that somebody waits for by name at once.
    func submit(_ task: ResolutionTask) {
        let begin: () -> Bool = { [weak self] in
            guard task.isWanted, let connection = self?.connection else { return false }
            task.begin(on: connection)
            return true
        }
        if task.isUrgent { services.beginNow(begin) } else { services.add(begin) }
    }

    /// SRV and TXT of a task are there, or will not come.
    func finished() { services.finished() }

    /// When a task that has its answer looks again.
    /// - Parameter looks: how often the same was seen again.
    func delay(afterLooks looks: Int) -> Duration { clock.delay(afterLooks: looks, among: sleeping) }

    /// Tells a host's addresses.
    /// - Parameters:
    ///   - known: what was found before.
    ///   - isNew: there were few looks before.
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
