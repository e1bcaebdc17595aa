import DNSSD
import Discovery
import System

/// A `ServiceQuery` for a type on avahi-daemon: one browser, and a resolution for each service on each interface.
final class BrowseOperation: CoreOperation {
    private struct Path: Hashable {
        let name: ServiceName
        let index: Int32
        let family: IPAddress.Family
    }

    private struct Place: Hashable {
        let name: ServiceName
        let index: Int32
    }

    /// Sightings kept at most: 4096 services on four paths each.
    private static let maximumSightings = 16_384

    private static let lossText =
        "results may be incomplete: packets were lost, because avahi-daemon did not read them as fast as they came"

    private let query: ServiceQuery
    private let type: ServiceType
    private let domain: Domain
    private let pool: ResolverPool
    private let batch: FactBatch<BrowseFact>
    private var browser: ServiceBrowser?
    private var sightings: [Path: Sighting] = [:]
    private var tasks: [Place: ResolutionTask] = [:]
    /// Seen by a browser that failed, and not yet by the one that took its place.
    private var unconfirmed: Set<Path> = []
    private var isListed = false
    private var firstList = FirstList(backlog: nil)
    private let listTimer: LoopTimer
    private var isFull = false
    /// Where avahi-daemon's cache is full, and was told to be.
    private var fullPlaces: Set<CacheGauge.Place> = []
    private let restart: Backoff
    private var receivers = Receivers()
    private let links: LinkMonitor
    private var names = InterfaceNames()

    init(
        query: ServiceQuery, type: ServiceType, domain: Domain, loop: EventLoop, pool: ResolverPool, links: LinkMonitor,
        report: FactBatch<BrowseFact>
    ) {
        self.query = query
        self.type = type
        self.domain = domain
        self.pool = pool
        self.links = links
        batch = report
        restart = Backoff(loop: loop)
        listTimer = LoopTimer(loop: loop)
        listTimer.fire = { [weak self] in self?.waitForFirstList() }
    }

    func connected(_ connection: AvahiConnection) {
        batch.add(.backend(.up))
        isListed = false
        firstList = FirstList(backlog: .current())
        names = InterfaceNames()
        if query.resolution != .none { pool.lookups.began(self) }
        browse(on: connection)
        links.listen(self) { [weak self] in self?.linksChanged(connection) }
    }

    func publishing(_ isPossible: Bool) {}

    func disconnected(_ reason: String) {
        free()
        batch.add(.backend(.down(reason)))
    }

    func end() {
        free()
        restart.free()
        listTimer.free()
        batch.end()
    }

    private func free() {
        links.leave(self)
        restart.cancel()
        listTimer.deadline = nil
        browser?.free()
        browser = nil
        ResolutionTask.cancel(Array(tasks.values))
        tasks = [:]
        pool.lookups.ended(self)
        for path in sightings.keys { forget(path) }
        sightings = [:]
        unconfirmed = []
        isFull = false
        pool.troubles.forget(self)
    }

    private func browse(on connection: AvahiConnection) {
        browser?.free()
        unconfirmed = Set(sightings.keys)
        do throws(DiscoveryError) {
            browser = try ServiceBrowser(on: connection, type: type, domain: domain, family: query.family) {
                [weak self] event in self?.received(event, connection)
            }
        } catch {
            failed(error, connection)
        }
    }

    private func received(_ event: ServiceBrowser.Event, _ connection: AvahiConnection) {
        switch event {
        case .appeared(let name, let path): appeared(ServiceName(observed: name), path)
        case .disappeared(let name, let path):
            disappeared(Path(name: ServiceName(observed: name), index: path.index, family: path.family))
        case .cacheExhausted: break
        case .allForNow:
            restart.succeeded()
            pool.troubles.note(.browsing, of: self, nil)
            for path in unconfirmed { disappeared(path) }
            firstList.wasAllForNow(at: .now)
            waitForFirstList()
        case .failed(let error): failed(error, connection)
        }
    }

    /// What was seen on an interface by its old name is gone, and what it is to be called, or whether it is wanted, is found out again.
    private func linksChanged(_ connection: AvahiConnection) {
        let renamed = names.became()
        guard !renamed.isEmpty, connection.isOpen else { return }
        for path in sightings.keys where renamed.contains(path.index) { disappeared(path) }
        browse(on: connection)
    }

    private func waitForFirstList() {
        guard !isListed else { return }
        switch firstList.verdict(at: .now, backlog: { PacketBacklog.current() }) {
        case .complete:
            // One that watches hears of the others later.
            if firstList.isDoubtful, query.resolution != .watch { batch.add(.degraded(Self.lossText)) }
            listed()
        case .lookAgain(let time): listTimer.deadline = time
        }
    }

    private func listed() {
        listTimer.deadline = nil
        guard !isListed else { return }
        isListed = true
        batch.add(.listed)
    }

    private func appeared(_ name: ServiceName, _ path: AvahiPath) {
        let key = Path(name: name, index: path.index, family: path.family)
        unconfirmed.remove(key)
        guard sightings[key] == nil, let interface = NetworkInterface(systemIndex: path.index),
            query.interfaces.allows(interface.name)
        else { return }
        guard sightings.count < Self.maximumSightings else { return full() }
        let instance = ServiceInstance(name: name, type: type, domain: domain)
        let sighting = Sighting(
            instance: instance, origin: .link(interface), family: path.family,
            isOwn: path.isLocal || interface.isLoopback)
        sightings[key] = sighting
        batch.add(.appeared(sighting))
        if !isListed { firstList.appeared(at: .now) }
        if !path.isLocal { count(key, instance, on: interface) }
        if query.resolution != .none { resolve(instance, on: interface, over: path) }
    }

    private func resolve(_ instance: ServiceInstance, on interface: NetworkInterface, over path: AvahiPath) {
        let place = Place(name: instance.name, index: path.index)
        if let task = tasks[place] { return task.add(path.family) }
        let task = ResolutionTask(
            instance, on: interface, approach: .inTurn, watches: query.resolution == .watch,
            addressFamily: query.family, pool: pool
        ) { [weak self] outcome in
            switch outcome {
            case .resolved(let resolution, _, _): self?.batch.add(.resolved(resolution))
            case .failed: self?.batch.add(.resolutionFailed(instance, .link(interface)))
            }
        }
        tasks[place] = task
        task.add(path.family)
        pool.submit(task)
    }

    private func disappeared(_ path: Path) {
        unconfirmed.remove(path)
        guard let sighting = sightings.removeValue(forKey: path) else { return }
        forget(path)
        let isHidden = !receivers.isReceiving(sighting)
        batch.add(isHidden ? .hidden(sighting) : .disappeared(sighting))
        let other = Path(name: path.name, index: path.index, family: path.family.other)
        if sightings[other] == nil { tasks.removeValue(forKey: Place(name: path.name, index: path.index))?.cancel() }
    }

    private func count(_ key: Path, _ instance: ServiceInstance, on interface: NetworkInterface) {
        let place = CacheGauge.Place(index: key.index, family: key.family)
        pool.cache.appeared(instance, place)
        guard pool.cache.isFull(place), !fullPlaces.contains(place) else { return }
        fullPlaces.insert(place)
        let family = key.family == .ipv4 ? "IPv4" : "IPv6"
        let text =
            "results may be incomplete: avahi-daemon's cache is full on \(interface.name) (\(family)); "
            + "raise cache-entries-max in avahi-daemon.conf"
        pool.troubles.note(.cache(place), of: self, text)
        batch.add(.degraded(text))
    }

    private func forget(_ path: Path) {
        let instance = ServiceInstance(name: path.name, type: type, domain: domain)
        let place = CacheGauge.Place(index: path.index, family: path.family)
        pool.cache.disappeared(instance, place)
        if !pool.cache.isFull(place), fullPlaces.remove(place) != nil {
            pool.troubles.note(.cache(place), of: self, nil)
        }
    }

    private func full() {
        guard !isFull else { return }
        isFull = true
        let text = "more than \(Self.maximumSightings) sightings of \(type): the rest is left out"
        pool.troubles.note(.sightings, of: self, text)
        batch.add(.degraded(text))
    }

    private func failed(_ error: DiscoveryError, _ connection: AvahiConnection) {
        pool.troubles.note(.browsing, of: self, error.message)
        batch.add(.degraded(error.message))
        // Nothing more will come for now, which is an answer too: nobody may wait for ever.
        listed()
        restart.schedule { [weak self] in if connection.isOpen { self?.browse(on: connection) } }
    }
}
