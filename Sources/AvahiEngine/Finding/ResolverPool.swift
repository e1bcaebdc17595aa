import DNSSD
import System

/// Decides when a service is resolved: a few at a time, the rest in a queue. Touched by the loop's thread only.
final class ResolverPool {
    /// Every resolver asks the wire again: with more than 64 at a time 1000 services take longer, not shorter
    /// (docs/performance.md).
    static let maximumInFlight = 64
    /// So many that wait are a crowd, which takes more than one connection.
    private static let crowd = 16

    let loop: EventLoop
    let lookups: LookupLanes
    let hosts: HostTable
    let troubles = Troubles()
    /// Of all queries together: they share avahi-daemon's cache.
    var cache = CacheGauge()
    private var queue = Fifo<ResolutionTask>()
    private var inFlight = 0
    private var sleeping = DeadlineQueue<ResolutionTask>()
    /// How many of those that sleep were given up.
    private var unwanted = 0
    private var clock = RefreshClock()
    private let timer: LoopTimer
    private let links: LinkMonitor

    init(loop: EventLoop, links: LinkMonitor) {
        self.loop = loop
        self.links = links
        lookups = LookupLanes(loop: loop)
        hosts = HostTable(loop: loop, lookups: lookups)
        timer = LoopTimer(loop: loop)
        timer.fire = { [weak self] in self?.wake() }
    }

    func connected(_ connection: AvahiConnection) {
        lookups.connected(connection)
        links.listen(self) { [weak self] in self?.linksChanged() }
    }

    /// Nothing new is begun: the connection is about to go.
    func suspend() { lookups.suspend() }

    /// The connection is gone; tasks belong to their operations, which have dropped them.
    func disconnected() {
        links.leave(self)
        lookups.close()
        queue = Fifo()
        inFlight = 0
        sleeping = DeadlineQueue()
        unwanted = 0
        timer.deadline = nil
        hosts.clear()
    }

    func submit(_ task: ResolutionTask) {
        queue.append(task)
        next()
        if queue.count >= Self.crowd { lookups.isCrowded = true }
    }

    func submit(_ task: ResolutionTask, after delay: Duration) {
        task.isSleeping = true
        sleeping.insert(task, at: MonotonicTime.now + delay)
        timer.deadline = sleeping.first
    }

    /// Looks again at what has answered, in its time.
    /// - Parameter looks: how often that was done since something changed.
    func refresh(_ task: ResolutionTask, afterLooks looks: Int) {
        submit(task, after: clock.delay(afterLooks: looks, among: sleeping.count))
    }

    /// A task that sleeps is not wanted any more. Many that come and go must not fill the queue until their time has come.
    func gaveUpSleeping() {
        unwanted += 1
        guard unwanted > max(64, sleeping.count / 2) else { return }
        unwanted = 0
        sleeping.removeAll { !$0.isWanted }
        timer.deadline = sleeping.first
    }

    /// Whether so many wait that avahi-daemon needs longer for each.
    var isCrowded: Bool { lookups.isCrowded }

    /// A task that was begun no longer needs its place.
    func finished() {
        inFlight -= 1
        next()
        if inFlight == 0 { lookups.isCrowded = false }
    }

    func free() {
        disconnected()
        lookups.free()
        timer.free()
    }

    private func next() {
        guard lookups.isConnected else { return }
        while inFlight < Self.maximumInFlight, let task = queue.popFirst() {
            guard task.isWanted else { continue }
            inFlight += 1
            task.begin()
        }
    }

    private func wake() {
        let now = MonotonicTime.now
        while let first = sleeping.first, first <= now, let task = sleeping.removeFirst() {
            if task.isWanted { queue.append(task) } else if unwanted > 0 { unwanted -= 1 }
            task.isSleeping = false
        }
        timer.deadline = sleeping.first
        next()
    }

    /// Addresses may be others now, here or there: all is looked at soon, fifty a second.
    private func linksChanged() {
        var tasks: [(deadline: MonotonicTime, task: ResolutionTask)] = []
        while let deadline = sleeping.first, let task = sleeping.removeFirst() { tasks.append((deadline, task)) }
        let now = MonotonicTime.now
        for (number, entry) in tasks.enumerated() {
            sleeping.insert(entry.task, at: min(entry.deadline, now + Duration.milliseconds(20) * number))
        }
        timer.deadline = sleeping.first
    }
}
