import DNSSD
import Discovery

// What a machine sees of the others, and the facts that follow when that changes.
extension SimulatedWorld {
    mutating func observe(_ id: UInt64) {
        guard var operation = operations[id], let machine = machines[operation.machine] else { return }
        if case .publication = operation.kind { return }
        guard machine.isUp else {
            switch operation.backend {
            case .lost, .unavailable: return
            case nil: tellBackend(id, &operation, .unavailable("the simulated backend is not running"))
            case .available, .recovered: tellBackend(id, &operation, .lost("the simulated backend was stopped"))
            }
            operation.isListed = false
            operations[id] = operation
            return
        }
        switch operation.backend {
        case nil: operation.backend = .available
        case .unavailable: tellBackend(id, &operation, .available)
        case .lost: tellBackend(id, &operation, .recovered)
        case .available, .recovered: break
        }
        let isFirst = !operation.isListed
        operation.isListed = true
        switch operation.kind {
        case .browse(var browse):
            observe(id, &browse, on: machine, isFirst: isFirst)
            operation.kind = .browse(browse)
        case .types(var types):
            observe(id, &types, on: machine, isFirst: isFirst)
            operation.kind = .types(types)
        case .domains(let domains):
            if isFirst {
                report(id) {
                    domains.report(.appeared(.local, nil))
                    domains.report(.listed)
                }
            }
        case .publication: break
        }
        operations[id] = operation
    }

    private mutating func tellBackend(_ id: UInt64, _ operation: inout SimulatedOperation, _ state: BackendState) {
        operation.backend = state
        if let deliver = operation.report(state) { report(id, deliver) }
    }

    private mutating func observe(
        _ id: UInt64,
        _ browse: inout SimulatedOperation.Browse,
        on machine: SimulatedMachine,
        isFirst: Bool
    ) {
        if isFirst { (browse.sightings, browse.resolutions, browse.failures) = ([], [:], []) }
        let (sightings, resolutions, failures) = view(of: browse.query, from: machine)
        var facts: [BrowseFact] = []
        facts += browse.sightings.subtracting(sightings).inOrder.map { .disappeared($0) }
        facts += sightings.subtracting(browse.sightings).inOrder.map { .appeared($0) }
        for (site, resolution) in resolutions.sorted(by: { $0.key.precedes($1.key) }) {
            let isNews = browse.query.resolution == .watch || browse.resolutions[site] == nil
            if isNews && browse.resolutions[site] != resolution { facts.append(.resolved(resolution)) }
        }
        for site in failures.subtracting(browse.failures).sorted(by: { $0.precedes($1) }) {
            facts.append(.resolutionFailed(site.instance, site.interface))
        }
        if isFirst { facts.append(.listed) }
        (browse.sightings, browse.resolutions, browse.failures) = (sightings, resolutions, failures)
        for fact in facts { report(id) { [deliver = browse.report] in deliver(fact) } }
    }

    private mutating func observe(
        _ id: UInt64,
        _ types: inout SimulatedOperation.Types,
        on machine: SimulatedMachine,
        isFirst: Bool
    ) {
        if isFirst { types.paths = [] }
        var paths: Set<SimulatedOperation.TypePath> = []
        for (_, owner, publication) in published where publication.service.domain == types.query.domain {
            for path in self.paths(to: publication.service, of: owner, from: machine, types.query.interfaces) {
                if let family = types.query.family, !path.families.contains(family) { continue }
                paths.insert(
                    SimulatedOperation.TypePath(
                        type: publication.service.type.base,
                        domain: types.query.domain,
                        interface: path.interface
                    )
                )
            }
        }
        let report = types.report
        for path in types.paths.subtracting(paths).inOrder {
            self.report(id) { report(.disappeared(path.type, path.domain, path.interface)) }
        }
        for path in paths.subtracting(types.paths).inOrder {
            self.report(id) { report(.appeared(path.type, path.domain, path.interface)) }
        }
        if isFirst { self.report(id) { report(.listed) } }
        types.paths = paths
    }

    private func view(
        of query: ServiceQuery,
        from machine: SimulatedMachine
    ) -> (Set<Sighting>, [SimulatedOperation.Site: Resolution], Set<SimulatedOperation.Site>) {
        var sightings: Set<Sighting> = []
        var resolutions: [SimulatedOperation.Site: Resolution] = [:]
        var failures: Set<SimulatedOperation.Site> = []
        for (_, owner, publication) in published where query.asks(for: publication) {
            guard let host = machines[owner] else { continue }
            for path in paths(to: publication.service, of: owner, from: machine, query.interfaces) {
                let families = path.families.filter { query.family == nil || query.family == $0 }
                guard !families.isEmpty else { continue }
                for family in families {
                    sightings.insert(
                        Sighting(instance: publication.instance, interface: path.interface, family: family)
                    )
                }
                guard query.resolution != .none else { continue }
                let site = SimulatedOperation.Site(instance: publication.instance, interface: path.interface)
                guard host.answers else {
                    failures.insert(site)
                    continue
                }
                resolutions[site] = Resolution(
                    instance: publication.instance,
                    interface: path.interface,
                    host: host.host,
                    port: publication.service.port,
                    txt: publication.service.txt,
                    addresses: path.addresses.filter { query.family == nil || query.family == $0.family },
                    isComplete: true
                )
            }
        }
        return (sightings, resolutions, failures)
    }

    /// The interfaces of `machine` on which a service of `owner` is seen, with the addresses it has there.
    private func paths(
        to service: OfferedService,
        of owner: String,
        from machine: SimulatedMachine,
        _ filter: InterfaceFilter
    ) -> [(interface: NetworkInterface, addresses: [IPAddress], families: [IPAddress.Family])] {
        guard let host = machines[owner], reaches(owner, machine.name) else { return [] }
        return machine.interfaces.filter { filter.allows($0.interface.name) }.compactMap { mine in
            let theirs = host.interfaces.filter { other in
                let isConnected = owner == machine.name ? other.interface == mine.interface : other.link == mine.link
                return isConnected && (owner == machine.name || mine.link != nil)
                    && service.interfaces.allows(other.interface.name)
            }
            let addresses = theirs.flatMap(\.addresses).filter {
                service.family == nil || service.family == $0.family
            }.map { $0.scoped(to: mine.interface) }
            let families = IPAddress.Family.allCases.filter { family in
                addresses.contains { $0.family == family } && mine.addresses.contains { $0.family == family }
            }
            return families.isEmpty ? nil : (mine.interface, addresses, families)
        }
    }
}

extension ServiceQuery {
    fileprivate func asks(for publication: SimulatedOperation.Publication) -> Bool {
        switch target {
        case .instance(let instance): return instance == publication.instance
        case .type(let type, let domain):
            guard type.base == publication.service.type.base, domain == publication.service.domain else { return false }
            guard let subtype = type.subtype else { return true }
            return publication.service.subtypes.contains(subtype)
        }
    }
}

extension IPAddress {
    fileprivate func scoped(to interface: NetworkInterface) -> IPAddress {
        guard case .v6(let address, _) = self, isLinkLocal else { return self }
        return .v6(address, scope: interface.index)
    }
}

extension SimulatedOperation.Site {
    fileprivate func precedes(_ other: Self) -> Bool {
        (instance.name, interface) < (other.instance.name, other.interface)
    }
}

extension Set<Sighting> {
    /// An order that is the same in every run.
    fileprivate var inOrder: [Sighting] {
        sorted {
            ($0.instance.name, $0.interface, $0.family.rawValue) < ($1.instance.name, $1.interface, $1.family.rawValue)
        }
    }
}

extension Set<SimulatedOperation.TypePath> {
    fileprivate var inOrder: [SimulatedOperation.TypePath] {
        sorted { ($0.type.description, $0.interface) < ($1.type.description, $1.interface) }
    }
}
