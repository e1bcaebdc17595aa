import DNSSD
import System

/// The hosts whose addresses are wanted now: one tracker however many services a host has. Touched by the loop's thread only.
final class HostTable {
    struct Key: Hashable {
        let host: HostName
        let interface: NetworkInterface
        let family: IPAddress.Family?
    }

    /// Trackers that nobody uses at the moment are kept, for the next service of the host.
    private static let maximumIdle = 64

    /// What was seen so long ago is as good as new: services of one host ask one after the other.
    private static let validity = Duration.milliseconds(500)

    /// Hosts looked at at a time, for the reason that services are: `ResolverPool.maximumInFlight`.
    private static let maximumLooking = 32

    private let loop: EventLoop
    private var trackers: [Key: HostTracker] = [:]
    private var idle: [Key] = []
    /// Hosts that wait for their turn, and those that are looked at.
    private var queue = Fifo<Key>()
    private var looking: Set<Key> = []
    private let lookups: LookupLanes

    init(loop: EventLoop, lookups: LookupLanes) {
        self.loop = loop
        self.lookups = lookups
    }

    func lease(
        _ host: HostName, on interface: NetworkInterface, family: IPAddress.Family?,
        changed: @escaping () -> Void
    ) -> HostLease {
        let key = Key(host: host, interface: interface, family: family)
        if let waiting = idle.firstIndex(of: key) {
            idle.remove(at: waiting)
            // Nobody may be told what was true when it was last used.
            if trackers[key]?.hasLooked(within: Self.validity) == false { free(key) }
        }
        let tracker = trackers[key] ?? HostTracker(key, loop: loop) { [weak self] in self?.looked(at: key) }
        trackers[key] = tracker
        let lease = HostLease(tracker: tracker, changed: changed)
        tracker.leases[ObjectIdentifier(lease)] = lease
        if tracker.addresses == nil { look(at: tracker) }
        return lease
    }

    /// Looks again, unless that was done just now.
    func refresh(_ lease: HostLease) {
        guard !lease.tracker.hasLooked(within: Self.validity) else { return }
        look(at: lease.tracker)
    }

    func give(back lease: HostLease) {
        lease.tracker.leases[ObjectIdentifier(lease)] = nil
        let key = lease.tracker.key
        guard lease.tracker.leases.isEmpty, trackers[key] === lease.tracker else { return }
        // A look that nobody waits for goes on to its end only where its answer is the first.
        guard lease.tracker.addresses != nil else { return free(key) }
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
        looking = []
    }

    private func look(at tracker: HostTracker) {
        guard !tracker.isQueued, !tracker.isLooking else { return }
        tracker.isQueued = true
        queue.append(tracker.key)
        next()
    }

    private func looked(at key: Key) {
        looking.remove(key)
        next()
    }

    private func next() {
        guard lookups.isConnected else { return }
        while looking.count < Self.maximumLooking, let key = queue.popFirst() {
            // The one that waited may be gone, and another with its key may have had its turn.
            guard let tracker = trackers[key], tracker.isQueued else { continue }
            tracker.isQueued = false
            looking.insert(key)
            tracker.look(on: lookups)
        }
    }

    private func free(_ key: Key) {
        trackers.removeValue(forKey: key)?.free()
        looked(at: key)
    }
}
