import DNSSD
import Discovery
import DiscoverySystem

/// Carries out a `ServiceQuery` for one service by name: asks on every interface at once, without browsing for its
/// type.
final class ResolveOperation: CoreOperation {
    /// How long other interfaces may lag behind the first that answered.
    private static let grace = Duration.milliseconds(250)

    private let query: ServiceQuery
    private let instance: ServiceInstance
    private let queue: ResolutionQueue
    private let links: LinkMonitor
    private let batch: FactBatch<BrowseFact>
    private let timer: LoopTimer
    private var tasks: [NetworkInterface: ResolutionTask] = [:]
    private var unanswered: Set<NetworkInterface> = []
    private var sightings: [NetworkInterface: Sighting] = [:]
    private var isListed = false

    init(_ query: ServiceQuery, instance: ServiceInstance, core: EngineCore, report: FactBatch<BrowseFact>) {
        self.query = query
        self.instance = instance
        queue = core.resolutions
        links = core.links
        batch = report
        timer = LoopTimer(loop: core.loop)
        timer.fire = { [weak self] in self?.listed() }
    }

    func connected(_ connection: AvahiConnection) {
        clear()
        batch.add(.backend(.up))
        isListed = false
        do throws(DiscoveryError) {
            _ = try instance.type.checkedForAvahi()
        } catch {
            batch.add(.degraded(error.message))
            return listed()
        }
        ask()
        if unanswered.isEmpty { listed() }
        links.listen(self) { [weak self] in self?.ask() }
    }

    func publishing(_ isPossible: Bool) {}

    func disconnected(_ reason: String) {
        clear()
        batch.add(.backend(.down(reason)))
    }

    func end() {
        clear()
        timer.free()
        batch.end()
    }

    private func clear() {
        links.leave(self)
        ResolutionTask.cancel(Array(tasks.values))
        tasks = [:]
        unanswered = []
        sightings = [:]
        timer.deadline = nil
    }

    /// Asks on the interfaces that are usable now, and stops on those that are not.
    private func ask() {
        let usable = SystemInterfaces.usable(by: query.interfaces)
        for interface in Set(tasks.keys).subtracting(usable.map(\.interface)) {
            tasks.removeValue(forKey: interface)?.cancel()
            answered(.failed, on: interface)
        }
        var new: [ResolutionTask] = []
        for (interface, families) in usable {
            let task = tasks[interface] ?? task(on: interface)
            for family in families where query.family == nil || query.family == family { task.add(family) }
            // Addresses may have changed.
            task.lookAgain(within: .zero)
            guard tasks.updateValue(task, forKey: interface) == nil else { continue }
            unanswered.insert(interface)
            new.append(task)
        }
        for task in new { queue.submit(task) }
    }

    private func task(on interface: NetworkInterface) -> ResolutionTask {
        ResolutionTask(
            instance, on: interface, isUrgent: true, watches: query.resolution != .once, addressFamily: query.family,
            resolvesHost: query.resolution != .none, queue: queue
        ) { [weak self] in self?.answered($0, on: interface) }
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
            if !isListed, timer.deadline == nil { timer.set(after: Self.grace) }
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
