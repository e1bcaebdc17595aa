import DNSSD
import Discovery

// What a machine sees of the others, and the facts that follow from changes.
extension SimulatedWorld {
    mutating func observe(_ id: UInt64) {
        guard var operation = operations[id], let machine = machines[operation.machine] else { return }
        if case .publication = operation.kind { return }
        guard machine.isUp else {
            if operation.backend?.reason == nil {
                let wasUp = operation.backend == .up
                let reason = wasUp ? "the simulated backend was stopped" : "the simulated backend is not running"
                tellBackend(id, &operation, .down(reason))
            }
            operation.isListed = false
            operations[id] = operation
            return
        }
        if operation.backend != .up { tellBackend(id, &operation, .up) }
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
                let list = self.domains
                report(id) { domains.report(list.map { .appeared($0, .unicast) } + [.listed]) }
            }
        case .publication, .state: break
        }
        operations[id] = operation
    }

    private mutating func tellBackend(_ id: UInt64, _ operation: inout SimulatedOperation, _ state: EngineState) {
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
        facts += browse.sightings.subtracting(sightings).inOrder.map { sighting in
            let isDown = sighting.origin.interface.map { machine.downInterfaces.contains($0.name) } ?? false
            return isDown ? .hidden(sighting) : .disappeared(sighting)
        }
        facts += sightings.subtracting(browse.sightings).inOrder.map { .appeared($0) }
        for (site, resolution) in resolutions.sorted(by: { $0.key.precedes($1.key) }) {
            let isNews = browse.query.resolution == .watch || browse.resolutions[site] == nil
            if isNews && browse.resolutions[site] != resolution { facts.append(.resolved(resolution)) }
        }
        for site in failures.subtracting(browse.failures).sorted(by: { $0.precedes($1) }) {
            facts.append(.resolutionFailed(site.instance, site.origin))
        }
        if isFirst { facts.append(.listed) }
        (browse.sightings, browse.resolutions, browse.failures) = (sightings, resolutions, failures)
        tell(facts, of: id, browse.report, to: machine.name)
    }

    /// In one report where everything is heard at once; else what belongs to a service in one of its own, each when it is heard.
    private mutating func tell(
        _ facts: [BrowseFact], of id: UInt64, _ deliver: @escaping @Sendable ([BrowseFact]) -> Void, to machine: String
    ) {
        guard !facts.isEmpty else { return }
        conditions.forget(now: now)
        guard !conditions.isPerfect else { return report(id) { deliver(facts) } }
        var order: [ServiceInstance] = []
        var heard: [ServiceInstance: [BrowseFact]] = [:]
        for fact in facts {
            guard let instance = fact.heard else { continue }
            if heard[instance] == nil { order.append(instance) }
            heard[instance, default: []].append(fact)
        }
        let known = facts.filter { $0.heard == nil }
        if !known.isEmpty { report(id) { deliver(known) } }
        for instance in order {
            guard let facts = heard[instance] else { continue }
            report(id, of: instance, to: machine) { deliver(facts) }
        }
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
            guard !publication.service.isAddressRecord else { continue }
            for path in self.paths(to: publication.service, of: owner, from: machine, types.query.interfaces) {
                let family = types.query.family
                guard family == nil || path.families.contains(family) || path.families.contains(nil) else { continue }
                let key = TypeKey(type: publication.service.type.base, domain: types.query.domain)
                paths.insert(SimulatedOperation.TypePath(key: key, origin: path.origin))
            }
        }
        var facts: [TypeFact] = []
        facts += types.paths.subtracting(paths).inOrder.map { .disappeared($0.key, $0.origin) }
        facts += paths.subtracting(types.paths).inOrder.map { .appeared($0.key, $0.origin) }
        if isFirst { facts.append(.listed) }
        types.paths = paths
        guard !facts.isEmpty else { return }
        conditions.forget(now: now)
        let deliver: @Sendable () -> Void = { [deliver = types.report, facts] in deliver(facts) }
        if conditions.isPerfect { report(id, deliver) } else { report(id, of: nil, to: machine.name, deliver) }
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
                let families = path.families.filter { query.family == nil || $0 == nil || query.family == $0 }
                guard !families.isEmpty else { continue }
                for family in families {
                    sightings.insert(
                        Sighting(
                            instance: publication.instance, origin: path.origin, family: family,
                            isOwn: owner == machine.name))
                }
                guard query.resolution != .none else { continue }
                let site = SimulatedOperation.Site(instance: publication.instance, origin: path.origin)
                guard host.answers else {
                    failures.insert(site)
                    continue
                }
                let offered = publication.service.host
                let others = offered.flatMap { $0.isAlias ? nil : $0.addresses }
                let addresses = (others ?? path.addresses).filter {
                    query.family == nil || query.family == $0.family
                }
                resolutions[site] = Resolution(
                    instance: publication.instance, origin: path.origin,
                    target: Resolution.Target(
                        host: offered?.name ?? host.host, port: publication.service.port, addresses: addresses),
                    txt: publication.service.txt)
            }
        }
        return (sightings, resolutions, failures)
    }

    /// The interfaces on which `machine` sees a service of `owner`, with the owner's addresses there.
    private func paths(
        to service: OfferedService,
        of owner: String,
        from machine: SimulatedMachine,
        _ filter: InterfaceFilter
    ) -> [(origin: Origin, addresses: [IPAddress], families: [IPAddress.Family?])] {
        guard let host = machines[owner], reaches(owner, machine.name) else { return [] }
        guard !isUnicast else {
            let addresses = host.usable.flatMap(\.addresses).filter { !$0.isLoopback && !$0.isLinkLocal }
            return addresses.isEmpty ? [] : [(.unicast, addresses, [nil])]
        }
        return machine.usable.filter { filter.allows($0.interface.name) }.compactMap { mine in
            let theirs = host.usable.filter { other in
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
            return families.isEmpty ? nil : (.link(mine.interface), addresses, families)
        }
    }
}

extension ServiceQuery {
    fileprivate func asks(for publication: SimulatedOperation.Publication) -> Bool {
        guard !publication.service.isAddressRecord else { return false }
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
        (instance.name, origin) < (other.instance.name, other.origin)
    }
}

extension Set<Sighting> {
    /// A stable order, the same in every run.
    fileprivate var inOrder: [Sighting] {
        sorted {
            ($0.instance.name, $0.origin, $0.family?.rawValue ?? "")
                < ($1.instance.name, $1.origin, $1.family?.rawValue ?? "")
        }
    }
}

extension Set<SimulatedOperation.TypePath> {
    fileprivate var inOrder: [SimulatedOperation.TypePath] {
        sorted { ($0.key.type.description, $0.origin) < ($1.key.type.description, $1.origin) }
    }
}
