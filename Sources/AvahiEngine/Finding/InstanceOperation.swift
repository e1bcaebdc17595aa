import DNSSD
import Discovery
import System

/// A `ServiceQuery` for one service by name: asked on every interface at once, without browsing for its type.
final class InstanceOperation: CoreOperation {
    /// How long other interfaces may lag behind the first that answered.
    private static let grace = Duration.milliseconds(250)

    private let query: ServiceQuery
    private let instance: ServiceInstance
    private let pool: ResolverPool
    private let links: LinkMonitor
    private let batch: FactBatch<BrowseFact>
    private var tasks: [NetworkInterface: ResolutionTask] = [:]
    private var unanswered: Set<NetworkInterface> = []
    private var sightings: [NetworkInterface: Sighting] = [:]
    private var isListed = false
    private let timer: LoopTimer

    init(
        query: ServiceQuery, instance: ServiceInstance, loop: EventLoop, pool: ResolverPool, links: LinkMonitor,
        report: FactBatch<BrowseFact>
    ) {
        self.query = query
        self.instance = instance
        self.pool = pool
        self.links = links
        batch = report
        timer = LoopTimer(loop: loop)
        timer.fire = { [weak self] in self?.listed() }
    }

    func connected(_ connection: AvahiConnection) {
        batch.add(.backend(.up))
        isListed = false
        do throws(DiscoveryError) {
            _ = try instance.type.checkedForAvahi()
        } catch {
            batch.add(.degraded(error.message))
            return listed()
        }
        ask()
        unanswered = Set(tasks.keys)
        if tasks.isEmpty { listed() }
        links.listen(self) { [weak self] in self?.ask() }
    }

    /// Asks on the interfaces that are there now, and no longer on those that are not.
    private func ask() {
        let usable = SystemInterfaces.usable(by: query.interfaces)
        let gone = Set(tasks.keys).subtracting(usable.map(\.interface))
        for interface in gone {
            tasks.removeValue(forKey: interface)?.cancel()
            answered(.failed, on: interface)
        }
        for (interface, families) in usable {
            let known = tasks[interface]
            let task =
                known
                ?? ResolutionTask(
                    instance, on: interface, approach: .atOnce, watches: query.resolution != .once,
                    addressFamily: query.family, resolvesHost: query.resolution != .none, pool: pool
                ) { [weak self] in self?.answered($0, on: interface) }
            for family in families where query.family == nil || query.family == family { task.add(family) }
            guard known == nil else { continue }
            tasks[interface] = task
            pool.submit(task)
        }
    }

    func publishing(_ isPossible: Bool) {}

    func disconnected(_ reason: String) {
        free()
        batch.add(.backend(.down(reason)))
    }

    func end() {
        free()
        timer.free()
        batch.end()
    }

    private func free() {
        links.leave(self)
        ResolutionTask.cancel(Array(tasks.values))
        tasks = [:]
        sightings = [:]
        timer.deadline = nil
    }

    private func answered(_ outcome: ResolutionTask.Outcome, on interface: NetworkInterface) {
        unanswered.remove(interface)
        switch outcome {
        case .resolved(let resolution, let family, let isOwn):
            if sightings[interface] == nil {
                let sighting = Sighting(
                    instance: instance, origin: .link(interface), family: family, isOwn: isOwn || interface.isLoopback)
                sightings[interface] = sighting
                batch.add(.appeared(sighting))
            }
            if query.resolution != .none { batch.add(.resolved(resolution)) }
            if timer.deadline == nil { timer.set(after: Self.grace) }
        case .failed:
            if let sighting = sightings.removeValue(forKey: interface) {
                let isHidden = !SystemInterfaces.isReceiving(interface, over: sighting.family ?? .ipv4)
                batch.add(isHidden ? .hidden(sighting) : .disappeared(sighting))
            }
        }
        if unanswered.isEmpty { listed() }
    }

    private func listed() {
        guard !isListed else { return }
        isListed = true
        batch.add(.listed)
    }
}
