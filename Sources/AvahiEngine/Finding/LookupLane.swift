import DNSSD
import System

/// Lookups on a connection and a thread of their own: the calls of libavahi-client, each of which waits for avahi-daemon's answer,
/// wait side by side (docs/decisions/0013-lanes.md). Touched by the home loop's thread only, to which the lane's own posts what it has to
/// tell.
final class LookupLane {
    /// Makes a lookup on the lane's thread.
    typealias Maker<Event: LookupEvent> =
        @Sendable (AvahiConnection, @escaping (Event) -> Void) throws(DiscoveryError) -> any Lookup

    enum Change {
        case up
        /// The connection could not be made, or has ended.
        case failed(DiscoveryError)
        case emptied
    }

    private let home: EventLoop
    private let loop: EventLoop
    private let worker: LaneWorker
    private let changed: (LookupLane, Change) -> Void
    private var isOpen = true
    private(set) var isUp = false
    /// What avahi-daemon holds, or is about to hold, for this lane.
    private(set) var objectCount = 0

    /// Connects, and tells `changed` on the home loop's thread how that went. Nil when no thread could be started.
    init?(home: EventLoop, changed: @escaping (LookupLane, Change) -> Void) {
        guard let loop = EventLoop(named: "avahi") else { return nil }
        self.home = home
        self.loop = loop
        self.changed = changed
        worker = LaneWorker(loop: loop)
        let changes = LoopBound(to: home) { [weak self] in self?.connectionChanged(to: $0) }
        onWorker { worker in worker.connect { state in changes.post { $0(state) } } }
    }

    deinit { close() }

    /// Begins a lookup; that it cannot be made is told like any other failure.
    func lookup<Event: LookupEvent>(report: @escaping (Event) -> Void, make: @escaping Maker<Event>) -> any Lookup {
        let lookup = LaneLookup(on: self, report: report)
        objectCount += 1
        let id = ObjectIdentifier(lookup)
        let events = LoopBound(to: home) { [weak lookup] (event: Event) in lookup?.received(event) }
        onWorker { worker in worker.add(id, told: { event in events.post { $0(event) } }, make: make) }
        return lookup
    }

    fileprivate func free(_ id: ObjectIdentifier) {
        guard isOpen else { return }
        objectCount -= 1
        onWorker { $0.remove(id) }
        if objectCount == 0 { changed(self, .emptied) }
    }

    /// Ends all lookups. The thread ends when the call of libavahi-client does in which it may be.
    func close() {
        guard isOpen else { return }
        isOpen = false
        isUp = false
        objectCount = 0
        onWorker { $0.close() }
        loop.stop()
    }

    private func connectionChanged(to state: AvahiConnection.State) {
        guard isOpen else { return }
        switch state {
        case .running, .registering:
            guard !isUp else { return }
            isUp = true
            changed(self, .up)
        case .connecting: changed(self, .failed(DiscoveryError(.backendUnavailable, "avahi-daemon is not running")))
        case .failed(let error): changed(self, .failed(error))
        }
    }

    private func onWorker(_ body: @escaping @Sendable (isolated LaneWorker) -> Void) {
        loop.post { [worker] in worker.assumeIsolated(body) }
    }
}

/// A lookup on a lane. Touched by the home loop's thread only.
private final class LaneLookup<Event: LookupEvent>: Lookup {
    private let lane: LookupLane
    private var report: ((Event) -> Void)?

    init(on lane: LookupLane, report: @escaping (Event) -> Void) {
        self.lane = lane
        self.report = report
    }

    /// What was on its way when the lookup was freed is for nobody.
    func received(_ event: Event) { report?(event) }

    func free() {
        guard report != nil else { return }
        report = nil
        lane.free(ObjectIdentifier(self))
    }

    deinit { free() }
}
