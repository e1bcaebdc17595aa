import DNSSD

/// Where lookups are made: on the engine's connection, or in a crowd on several lanes. Touched by the loop's thread only.
final class LookupLanes {
    /// With 8, 1000 services are resolved no earlier (docs/decisions/0013-lanes.md).
    static let count = 4
    /// For how long lanes without a lookup are kept.
    private static let idleTime = Duration.seconds(10)

    private let loop: AvahiLoop
    private var connection: AvahiConnection?
    private var lanes: [LookupLane] = []
    private var turn = 0
    private let timer: LoopTimer
    /// The connection of a lane has ended.
    var failed: (DiscoveryError) -> Void = { _ in }

    init(loop: AvahiLoop) {
        self.loop = loop
        timer = LoopTimer(loop: loop)
        timer.fire = { [weak self] in
            guard let self, self.lanes.allSatisfy({ $0.objectCount == 0 }) else { return }
            self.closeLanes()
        }
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

    /// More is to be looked up than one connection carries well: set by who knows, until it is done.
    var isCrowded = false {
        didSet { if isCrowded, !oldValue { open() } }
    }

    private func open() {
        guard isConnected, lanes.isEmpty else { return }
        lanes = (0..<Self.count).compactMap { _ in
            LookupLane(home: loop) { [weak self] lane, change in self?.received(change, from: lane) }
        }
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
        guard isCrowded else { return nil }
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
            if lanes.allSatisfy({ $0.objectCount == 0 }) { timer.set(after: Self.idleTime) }
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
