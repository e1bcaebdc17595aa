import DNSSD

/// The hosts that are looked up now: one tracker however many services a host has. Touched by the loop's thread only.
final class HostTable {
    struct Key: Hashable {
        let host: HostName
        let interface: NetworkInterface
        let family: IPAddress.Family?
    }

    /// Trackers that nobody uses at the moment are kept, for the next service of the host; two objects of Avahi's each.
    private static let maximumIdle = 64

    /// Hosts asked for at a time, for the reason that services are: `ResolverPool.maximumInFlight`.
    private static let maximumAsking = 32

    private let loop: AvahiLoop
    private var trackers: [Key: HostTracker] = [:]
    private var idle: [Key] = []
    /// Hosts that wait for their turn, and those that have not answered yet.
    private var queue = Fifo<Key>()
    private var asking: Set<Key> = []
    private let lookups: LookupLanes

    init(loop: AvahiLoop, lookups: LookupLanes) {
        self.loop = loop
        self.lookups = lookups
    }

    func lease(
        _ host: HostName, on interface: NetworkInterface, family: IPAddress.Family?,
        changed: @escaping () -> Void
    ) -> HostLease {
        let key = Key(host: host, interface: interface, family: family)
        let tracker: HostTracker
        if let known = trackers[key] {
            tracker = known
            idle.removeAll { $0 == key }
        } else {
            tracker = HostTracker(key, loop: loop) { [weak self] in self?.answered(key) }
            trackers[key] = tracker
            queue.append(key)
        }
        let lease = HostLease(tracker: tracker, changed: changed)
        tracker.leases[ObjectIdentifier(lease)] = lease
        next()
        return lease
    }

    func give(back lease: HostLease) {
        lease.tracker.leases[ObjectIdentifier(lease)] = nil
        let key = lease.tracker.key
        guard lease.tracker.leases.isEmpty, trackers[key] === lease.tracker else { return }
        guard lease.tracker.isStarted else { return free(key) }
        idle.append(key)
        while idle.count > Self.maximumIdle { free(idle.removeFirst()) }
    }

    /// Frees the trackers that nobody uses.
    func freeIdle() {
        for key in idle { free(key) }
        idle = []
    }

    /// The connection is gone, and what was made with it.
    func clear() {
        for tracker in trackers.values { tracker.free() }
        trackers = [:]
        idle = []
        queue = Fifo()
        asking = []
    }

    private func answered(_ key: Key) {
        asking.remove(key)
        next()
    }

    private func next() {
        guard lookups.isConnected else { return }
        while asking.count < Self.maximumAsking, let key = queue.popFirst() {
            // The one that waited may be gone, and another with its key may have had its turn.
            guard let tracker = trackers[key], !tracker.isStarted else { continue }
            asking.insert(key)
            tracker.start(on: lookups)
        }
    }

    private func free(_ key: Key) {
        trackers.removeValue(forKey: key)?.free()
        answered(key)
    }
}
