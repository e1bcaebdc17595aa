import DNSSD
import Discovery
import DiscoverySystem

/// Finds the services of a type: reports each sighting, and resolves each service on each interface.
final class ServiceFinding: BrowserFinding {
    typealias Fact = BrowseFact

    private struct Place: Hashable {
        let name: ServiceName
        let index: Int32
    }

    /// The number of services that fills avahi-daemon's cache on one interface over one family if each has its own
    /// host: the cache takes 4096 records (`cache-entries-max` of avahi-daemon.conf(5)), four per service, and silently
    /// drops the rest.
    private static let fullCache = 4_096 / 4 * 95 / 100

    private let query: ServiceQuery
    private let type: ServiceType
    private let domain: Domain
    private let queue: ResolutionQueue
    private let troubles: Troubles
    private let batch: FactBatch<Fact>
    private var tasks: [Place: ResolutionTask] = [:]
    /// The number of services visible on each path, except this machine's own, which Avahi's cache does not hold.
    private var counts: [AvahiPath: Int] = [:]

    init(
        _ query: ServiceQuery, type: ServiceType, domain: Domain, core: EngineCore, report: FactBatch<Fact>
    ) {
        self.query = query
        self.type = type
        self.domain = domain
        queue = core.resolutions
        troubles = core.troubles
        batch = report
    }

    var subject: String { type.description }

    func browser(
        on connection: AvahiConnection, report: @escaping (BrowserEvent<ServiceName>) -> Void
    ) throws(DiscoveryError) -> AvahiLookup {
        try connection.browseServices(of: type, in: domain, family: query.family, report: report)
    }

    func appeared(_ name: ServiceName, _ path: AvahiPath, at origin: Origin, isFirst: Bool) {
        let sighting = sighting(name, path, origin)
        batch.add(.appeared(sighting))
        if !path.isLocal { count(1, on: path, origin) }
        guard query.resolution != .none, let interface = origin.interface else { return }
        let place = Place(name: name, index: path.index)
        if let task = tasks[place] { return task.add(path.family) }
        let task = ResolutionTask(
            sighting.instance, on: interface, watches: query.resolution == .watch, addressFamily: query.family,
            queue: queue
        ) { [weak self] outcome in
            switch outcome {
            case .resolved(let resolution, _, _): self?.batch.add(.resolved(resolution))
            case .failed: self?.batch.add(.resolutionFailed(sighting.instance, origin))
            }
        }
        tasks[place] = task
        task.add(path.family)
        queue.submit(task)
    }

    func disappeared(_ name: ServiceName, _ path: AvahiPath, at origin: Origin, isLast: Bool, isHidden: Bool) {
        let sighting = sighting(name, path, origin)
        batch.add(isHidden ? .hidden(sighting) : .disappeared(sighting))
        if !path.isLocal { count(-1, on: path, origin) }
        if isLast { tasks.removeValue(forKey: Place(name: name, index: path.index))?.cancel() }
    }

    /// The addresses of any host may have changed: looks at all services again soon, fifty a second.
    func linksChanged() {
        for (number, task) in tasks.values.enumerated() { task.lookAgain(within: .milliseconds(20) * number) }
    }

    func clear() {
        ResolutionTask.cancel(Array(tasks.values))
        tasks = [:]
        counts = [:]
        troubles.forget(self)
    }

    private func sighting(_ name: ServiceName, _ path: AvahiPath, _ origin: Origin) -> Sighting {
        Sighting(
            instance: ServiceInstance(name: name, type: type, domain: domain), origin: origin, family: path.family,
            isOwn: path.isLocal || origin.interface?.isLoopback == true)
    }

    private func count(_ difference: Int, on path: AvahiPath, _ origin: Origin) {
        let before = counts[path, default: 0]
        counts[path] = before + difference
        guard before + max(0, difference) == Self.fullCache else { return }
        guard difference > 0 else { return troubles.note(.cache(path), of: self, nil) }
        let family = path.family == .ipv4 ? "IPv4" : "IPv6"
        let text =
            "results may be incomplete: with \(Self.fullCache) services of \(type) on "
            + "\(origin.interface?.name ?? "a link") (\(family)) avahi-daemon's cache may be full; "
            + "raise cache-entries-max in avahi-daemon.conf"
        troubles.note(.cache(path), of: self, text)
        batch.add(.degraded(text))
    }
}
