import DNSSD
import System

/// Where lookups are made: on the engine's connection, while something is browsed on a lane, and in a crowd on several. Touched by the
/// loop's thread only.
///
/// A call on the engine's connection returns once all is read that avahi-daemon had to tell over it before, and in a flood, in which
/// avahi-daemon answers late, seconds later: nothing of what a browser is told would be passed on meanwhile.
final class LookupLanes {
    /// With 8, 1000 services are resolved no earlier (docs/decisions/0013-lanes.md).
    static let count = 4
    /// For how long lanes that a crowd needed are kept without a lookup.
    private static let idleTime = Duration.seconds(10)

    private let loop: EventLoop
    private var connection: AvahiConnection?
    private var lanes: [LookupLane] = []
    /// Browsers whose services are looked up.
    private var browsers: Set<ObjectIdentifier> = []
    private var turn = 0
    private let timer: LoopTimer
    /// The connection of a lane has ended.
    var failed: (DiscoveryError) -> Void = { _ in }

    init(loop: EventLoop) {
        self.loop = loop
        timer = LoopTimer(loop: loop)
        timer.fire = { [weak self] in self?.closeSpareLanes() }
    }

    var isConnected: Bool { connection != nil }

    func connected(_ connection: AvahiConnection) { self.connection = connection }

    /// Nothing new is begun.
    func suspend() { connection = nil }

    /// The connection is gone, or about to go.
    func close() {
        connection = nil
        closeLanes()
    }

    func free() {
        close()
        timer.free()
    }

    /// A browser begins whose services are looked up.
    func began(_ browsing: AnyObject) {
        browsers.insert(ObjectIdentifier(browsing))
        open()
    }

    /// It has ended, with all its lookups.
    func ended(_ browsing: AnyObject) {
        guard browsers.remove(ObjectIdentifier(browsing)) != nil, browsers.isEmpty else { return }
        closeSpareLanes()
    }

    /// More is to be looked up than one connection carries well: set by who knows, until it is done.
    var isCrowded = false {
        didSet {
            if isCrowded, !oldValue { open() }
            closeSpareLanesLater()
        }
    }

    /// How many lanes there are to be.
    private var wanted: Int { isCrowded ? Self.count : browsers.isEmpty ? 0 : 1 }

    private func open() {
        guard isConnected else { return }
        while lanes.count < wanted {
            let made = LookupLane(home: loop) { [weak self] lane, change in self?.received(change, from: lane) }
            guard let made else { return }
            lanes.append(made)
        }
    }

    private func closeSpareLanesLater() {
        if lanes.count > wanted, timer.deadline == nil { timer.set(after: Self.idleTime) }
    }

    /// Lanes without a lookup that are not needed any more; others are looked at again when they are empty.
    private func closeSpareLanes() {
        timer.deadline = nil
        let spare = lanes.dropFirst(wanted)
        guard spare.allSatisfy({ $0.objectCount == 0 }) else { return }
        for lane in spare { lane.close() }
        lanes.removeLast(spare.count)
    }

    /// What avahi-daemon holds for the lanes.
    var objectCountOnLanes: Int { lanes.reduce(0) { $0 + $1.objectCount } }

    func resolver(
        of instance: ServiceInstance, on interface: NetworkInterface, over family: IPAddress.Family,
        report: @escaping (ServiceResolver.Event) -> Void
    ) throws(DiscoveryError) -> any Lookup {
        try make(report) { connection, report throws(DiscoveryError) in
            try ServiceResolver(
                on: connection, instance: instance, interface: interface, family: family, report: report)
        }
    }

    func browser(
        of kind: RecordBrowser.Kind, at host: HostName, on interface: NetworkInterface,
        report: @escaping (RecordBrowser.Event) -> Void
    ) throws(DiscoveryError) -> any Lookup {
        try make(report) { connection, report throws(DiscoveryError) in
            try RecordBrowser(on: connection, host: host, kind: kind, interface: interface, report: report)
        }
    }

    private func make<Event: LookupEvent>(
        _ report: @escaping (Event) -> Void, _ maker: @escaping LookupLane.Maker<Event>
    ) throws(DiscoveryError) -> any Lookup {
        guard let connection else { throw DiscoveryError(.backendUnavailable, "not connected") }
        guard let lane = nextLane() else { return try maker(connection, report) }
        return lane.lookup(report: report, make: maker)
    }

    private func nextLane() -> LookupLane? {
        guard isCrowded else { return lanes.first { $0.isUp } }
        for _ in lanes.indices {
            turn = (turn + 1) % lanes.count
            if lanes[turn].isUp { return lanes[turn] }
        }
        return nil
    }

    private func received(_ change: LookupLane.Change, from lane: LookupLane) {
        switch change {
        case .up: break
        case .emptied:
            closeSpareLanesLater()
        case .failed(let error):
            let wasUp = lane.isUp
            lane.close()
            // Without it things go on, if more slowly; what was looked up on it does not.
            if wasUp { failed(error) } else { lanes.removeAll { $0 === lane } }
        }
    }

    private func closeLanes() {
        isCrowded = false
        for lane in lanes { lane.close() }
        lanes = []
        timer.deadline = nil
    }
}
