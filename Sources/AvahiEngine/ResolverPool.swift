import DNSSD

/// Decides when a service is resolved: a few at a time, the rest in a queue. Touched by the loop's thread only.
final class ResolverPool {
    /// Every resolver asks the wire again: with more than 64 at a time 1000 services take longer, not shorter
    /// (docs/performance.md).
    static let maximumInFlight = 64
    /// Resolvers that answered are kept, to hear of changes, while avahi-daemon holds fewer objects than this for one of our connections;
    /// its limit is 1024 (`objects-per-client-max`). The others are resolved anew from time to time.
    static let maximumKeptOnSystem = 600
    /// The same for a private avahi-daemon, whose limit is 16 384.
    static let maximumKeptPrivately = 8_192
    var maximumKept = maximumKeptOnSystem
    /// How often a service without a resolver of its own is looked at again: half of the TTL of SRV (RFC 6762 §10).
    static let refreshInterval = Duration.seconds(60)

    /// So many that wait are a crowd, which takes more than one connection.
    private static let crowd = 16

    let lookups: LookupLanes
    let hosts: HostTable
    /// Of all queries together: they share avahi-daemon's cache.
    var cache = CacheGauge()
    private var queue = Fifo<ResolutionTask>()
    private var inFlight = 0
    private var sleeping = DeadlineQueue<ResolutionTask>()
    private let timer: LoopTimer

    init(loop: AvahiLoop) {
        lookups = LookupLanes(loop: loop)
        hosts = HostTable(loop: loop, lookups: lookups)
        timer = LoopTimer(loop: loop)
        timer.fire = { [weak self] in self?.wake() }
    }

    func connected(_ connection: AvahiConnection) { lookups.connected(connection) }

    /// Nothing new is begun: the connection is about to go.
    func suspend() { lookups.suspend() }

    /// The connection is gone; tasks belong to their operations, which have dropped them.
    func disconnected() {
        lookups.close()
        queue = Fifo()
        inFlight = 0
        sleeping = DeadlineQueue()
        timer.deadline = nil
        hosts.clear()
    }

    func submit(_ task: ResolutionTask) {
        queue.append(task)
        next()
        if queue.count >= Self.crowd { lookups.isCrowded = true }
    }

    func submit(_ task: ResolutionTask, after delay: Duration) {
        sleeping.insert(task, at: MonotonicTime.now + delay)
        timer.deadline = sleeping.first
    }

    /// A task that was begun no longer needs its place.
    func finished() {
        inFlight -= 1
        next()
        if inFlight == 0 { lookups.isCrowded = false }
    }

    /// Whether a resolver that has answered may stay.
    var hasRoom: Bool { lookups.hasRoom(upTo: maximumKept) }

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
        while let first = sleeping.first, first <= now, let task = sleeping.removeFirst() { queue.append(task) }
        timer.deadline = sleeping.first
        next()
    }
}
