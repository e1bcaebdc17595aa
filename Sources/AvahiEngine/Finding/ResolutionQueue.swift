import DNSSD
import System

/// Whose turn it is to be resolved: a few at a time, the others wait in a line. Used only on the loop's thread.
final class ResolutionQueue {
    /// Every resolver asks the wire again: with more at a time 1000 services take longer, not shorter (docs/performance.md).
    private static let maximumInFlight = 64

    let loop: EventLoop
    /// How many tasks sleep until they look again; theirs to count.
    var sleeping = 0
    private var connection: AvahiConnection?
    private var waiting = Fifo<ResolutionTask>()
    private var inFlight = 0
    private var isBeginning = false
    private var looks: [HostLook.Key: HostLook] = [:]
    private var clock = RefreshClock()

    init(loop: EventLoop) { self.loop = loop }

    func connected(_ connection: AvahiConnection) { self.connection = connection }

    /// The connection is gone, or about to go; tasks belong to their operations, which cancel them.
    func disconnected() {
        connection = nil
        waiting = Fifo()
        for look in looks.values { look.free() }
        looks = [:]
    }

    /// Has a task begun in its turn; one that somebody waits for by name at once.
    func submit(_ task: ResolutionTask) {
        if task.isUrgent, let connection { return begin(task, on: connection) }
        waiting.append(task)
        next()
    }

    /// A task that was begun is done for now.
    func finished() {
        inFlight -= 1
        next()
    }

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
            ?? HostLook(key, known: known, isNew: isNew, on: connection) { [weak self] in
                self?.looks.removeValue(forKey: key)?.free()
            }
        looks[key] = look
        look.whenOver(told)
    }

    private func next() {
        // Tasks that fail at once end here before the next one begins, however many there are.
        guard !isBeginning else { return }
        isBeginning = true
        while inFlight < Self.maximumInFlight, let connection, let task = waiting.popFirst() {
            if task.isWanted { begin(task, on: connection) }
        }
        isBeginning = false
    }

    private func begin(_ task: ResolutionTask, on connection: AvahiConnection) {
        inFlight += 1
        task.begin(on: connection)
    }
}
