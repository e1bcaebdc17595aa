package import DNSSD

/// The state of one query: merges sightings and resolutions into services, and remembers what it has reported.
///
/// Holds back removals. `found` waits until a service is resolved wherever it is seen. Changes that do not show from
/// outside are not reported.
package struct Catalog: FactCatalog {
    package typealias Fact = BrowseFact

    let query: ServiceQuery
    let limits: DiscoveryLimits
    var entries: [ServiceInstance: CatalogEntry] = [:]
    private var lastNumber: UInt32 = 0
    private var deadlines = DeadlineTable<ServiceInstance>()
    /// Services for which `settled` waits.
    var awaited: Set<ServiceInstance> = []
    /// Entries beyond the limit: kept, and reported when there is room.
    var spares = Spares()
    /// Sighted services that there was no room for; each may still be resolved.
    var forgotten = ArrivalOrder<ServiceInstance>()
    /// The order in which services give way; only while the query is full, or nearly so.
    var order: EvictionOrder<ServiceInstance, Announcer>?
    private var notices: Notices
    private var watch = BackendWatch()
    private var isListed = false
    private var lastInterfaces: [NetworkInterface] = []
    /// When services that ended less than `changeInterval` ago may be found again.
    private var returns: [ServiceInstance: Duration] = [:]
    /// Everything known when the backend last came up has been reported.
    package private(set) var isSettled = false
    /// Announced services that could not be reached, whether listed here or not.
    var unreachable: Set<ServiceInstance>

    package init(
        _ query: ServiceQuery,
        limits: DiscoveryLimits = DiscoveryLimits(),
        unreachable: Set<ServiceInstance> = []
    ) {
        (self.query, self.limits, self.unreachable) = (query, limits, unreachable)
        self.notices = Notices(interval: limits.noticeInterval)
    }

    package var backend: BackendState? { watch.state }
    package var nextDeadline: Duration? { deadlines.next }

    /// A service was sighted but not reported yet, because it has to be resolved first.
    package var isCatchingUp: Bool { entries.values.contains { $0.isAwaited } }

    package var snapshot: [DiscoveredService] {
        entries.values.sorted { $0.number < $1.number }.compactMap(\.told)
    }

    package mutating func apply(_ facts: [BrowseFact], now: Duration) -> [Change<DiscoveredService>] {
        var changes: [Change<DiscoveredService>] = []
        for (place, fact) in facts.enumerated() {
            // Most services are resolved in the moment in which they appear, and looked at once.
            if case .appeared(let sighting) = fact, place + 1 < facts.count,
                case .resolved(let next) = facts[place + 1], next.instance == sighting.instance,
                next.origin == sighting.origin
            {
                changes += tick(now: now) + sighted(sighting, now: now)
            } else {
                changes += apply(fact, now: now)
            }
        }
        return changes
    }

    package mutating func apply(_ fact: BrowseFact, now: Duration) -> [Change<DiscoveredService>] {
        var changes = tick(now: now)
        switch fact {
        case .appeared(let sighting): changes += appeared(sighting, now: now)
        case .disappeared(let sighting): changes += disappeared(sighting, hold: limits.removalHold, now: now)
        case .withdrawn(let sighting): changes += disappeared(sighting, hold: limits.withdrawalHold, now: now)
        case .hidden(let sighting): changes += disappeared(sighting, hold: limits.linkHold, now: now)
        case .resolved(let resolution): changes += resolved(resolution, now: now)
        case .resolutionFailed(let instance, let origin): changes += resolutionFailed(instance, origin, now: now)
        case .merged(let service): changes += merged(service, now: now)
        case .gone(let instance):
            entries[instance]?.mergedGone()
            changes += evaluate([instance], now: now)
        case .listed: changes += listed(now: now)
        case .backend(let state): changes += backend(state, now: now)
        case .degraded(let text): changes += degraded(text, text, now: now)
        }
        return changes
    }

    package mutating func tick(now: Duration) -> [Change<DiscoveredService>] {
        guard let next = deadlines.next, next <= now else { return [] }
        return evaluate(deadlines.due(now), now: now)
    }
}

// MARK: What happened
extension Catalog {
    private var isResolving: Bool { query.resolution != .none }

    private mutating func appeared(_ sighting: Sighting, now: Duration) -> [Change<DiscoveredService>] {
        let changes = sighted(sighting, now: now)
        return changes + evaluate([sighting.instance], now: now)
    }

    /// Notes that a service is seen; `evaluate` looks at what that means.
    private mutating func sighted(_ sighting: Sighting, now: Duration) -> [Change<DiscoveredService>] {
        let wait = isResolving ? limits.resolutionLimit : limits.sightingWindow
        var changes: [Change<DiscoveredService>] = []
        if entries[sighting.instance] == nil {
            if isFull, spares.count >= mostSpares { forgetSpares() }
            guard !isFull || spares.count < mostSpares else {
                forget(sighting.instance)
                return noRoom(now)
            }
            forgotten.remove(sighting.instance)
            lastNumber &+= 1
            var entry = CatalogEntry(
                instance: sighting.instance, number: lastNumber, isInitial: !isListed, tellBy: now + wait)
            entry.pacedUntil = returns.removeValue(forKey: sighting.instance).map { $0 + limits.changeInterval }
            entry.isSpare = isFull
            if isFull {
                spares.add(sighting.instance, isResolved: false)
            } else {
                order?.add(sighting.instance, to: nil)
            }
            entries[sighting.instance] = entry
        }
        guard let place = entries.index(forKey: sighting.instance) else { return changes }
        if entries.values[place].isSpare { changes += noRoom(now) }
        // Before the first report, one deadline for all origins; afterwards each has its own.
        let until = entries.values[place].told == nil ? entries.values[place].tellBy : now + wait
        entries.values[place].sites[sighting.origin, default: CatalogSite(awaitedUntil: until)]
            .appeared(sighting.family, isOwn: sighting.isOwn)
        return changes
    }

    /// There is always room for it: the process that merged it keeps to its own limit.
    private mutating func merged(_ service: DiscoveredService, now: Duration) -> [Change<DiscoveredService>] {
        let instance = service.instance
        if entries[instance] == nil {
            lastNumber &+= 1
            entries[instance] = CatalogEntry(
                instance: instance, number: lastNumber, isInitial: !isListed, tellBy: now)
        }
        spares.remove(instance)
        entries[instance]?.isSpare = false
        entries[instance]?.becameMerged(service)
        // The process that merged it has spaced its changes.
        entries[instance]?.pacedUntil = nil
        return evaluate([instance], now: now)
    }

    private mutating func noRoom(_ now: Duration) -> [Change<DiscoveredService>] {
        degraded("services", "more than \(limits.services) services: further ones are left out", now: now)
    }

    private mutating func disappeared(
        _ sighting: Sighting,
        hold: Duration,
        now: Duration
    ) -> [Change<DiscoveredService>] {
        guard watch.isUp else { return [] }
        forgotten.remove(sighting.instance)
        entries[sighting.instance]?.sites[sighting.origin]?
            .disappeared(sighting.family, holdUntil: now + hold)
        return evaluate([sighting.instance], now: now)
    }

    private mutating func resolved(_ resolution: Resolution, now: Duration) -> [Change<DiscoveredService>] {
        var changes: [Change<DiscoveredService>] = []
        if forgotten.contains(resolution.instance) {
            let sighting = Sighting(instance: resolution.instance, origin: resolution.origin, family: nil)
            changes += appeared(sighting, now: now)
        }
        let instance = resolution.instance
        guard var place = entries.index(forKey: instance),
            entries.values[place].sites.contains(resolution.origin)
        else { return changes }
        var resolution = resolution
        if resolution.bound(addressesPerHost: limits.addressesPerHost) {
            let text =
                "\(resolution.host) has more than \(limits.addressesPerHost) addresses: further ones are left out"
            changes += degraded("addresses", text, now: now)
        }
        if entries.values[place].isSpare {
            let text = "more than \(limits.services) services: of some hosts only \(limits.servicesPerHost) are kept"
            changes += degraded("services", text, now: now)
            changes += makeRoom(for: instance, of: resolution.announcer)
            guard let moved = entries.index(forKey: instance) else { return changes }
            place = moved
        }
        if entries.values[place].isSpare {
            spares.add(instance, isResolved: true)
        } else {
            order?.add(instance, to: resolution.announcer)
        }
        entries.values[place].sites[resolution.origin]?.resolved(resolution, now: now)
        return changes + evaluate([instance], now: now)
    }

    private mutating func resolutionFailed(
        _ instance: ServiceInstance,
        _ origin: Origin,
        now: Duration
    ) -> [Change<DiscoveredService>] {
        // While the backend is away nothing can answer: that says nothing about the service.
        guard watch.isUp else { return [] }
        entries[instance]?.sites[origin]?.failed()
        return evaluate([instance], now: now)
    }

    private mutating func listed(now: Duration) -> [Change<DiscoveredService>] {
        isListed = true
        // Without resolving, the first list has all there is.
        let (deadline, isComplete) = (now + limits.removalHold, !isResolving)
        var concerned: [ServiceInstance] = []
        // Not over the keys themselves: a second reference would copy all entries at the first change.
        for instance in Array(entries.keys)
        where entries[instance]?.listed(holdUntil: deadline, isComplete: isComplete) == true {
            concerned.append(instance)
        }
        return evaluate(inOrder(concerned), now: now) + settleIfDone()
    }

    private mutating func backend(_ state: EngineState, now: Duration) -> [Change<DiscoveredService>] {
        guard let news = watch.became(state) else { return [] }
        if !watch.isUp {
            for instance in Array(entries.keys) { entries[instance]?.backendLost() }
        }
        // Changes made meanwhile are known only when it has listed again: until then `settled` would be wrong.
        if news == .recovered {
            (isListed, isSettled) = (false, false)
            // Reports again what is still omitted.
            notices.renew()
        }
        return [.backend(news)] + evaluate(inOrder(entries.keys), now: now)
    }

    private mutating func degraded(_ kind: String, _ text: String, now: Duration) -> [Change<DiscoveredService>] {
        notices.shouldTell(kind, now: now) ? [.degraded(text)] : []
    }
}

// MARK: What to report
extension Catalog {
    private func inOrder(_ instances: some Collection<ServiceInstance>) -> [ServiceInstance] {
        let numbers = instances.map { entries[$0]?.number ?? 0 }
        return zip(numbers, instances).sorted { $0.0 < $1.0 }.map(\.1)
    }

    mutating func evaluate(_ instances: [ServiceInstance], now: Duration) -> [Change<DiscoveredService>] {
        var changes: [Change<DiscoveredService>] = []
        for instance in instances.count > 1 ? inOrder(instances) : instances {
            // In place: a second reference to an entry would copy its sites at their next change.
            guard let place = entries.index(forKey: instance) else { continue }
            entries.values[place].expire(now, limits)
            let entry = entries.values[place]
            if entry.isGone {
                remove(instance)
                if let told = entry.told {
                    changes.append(.lost(told))
                    ended(instance, now: now)
                }
                continue
            }
            var later: Duration?
            if !entry.isSpare, let change = change(of: entry) {
                // The first list has all that is there.
                if let until = entry.pacedUntil, now < until - limits.changeInterval, isSettled || entry.told != nil {
                    later = until - limits.changeInterval
                } else {
                    // Two at once, for a change in place comes from each link by itself; then one an interval.
                    entries.values[place].pacedUntil =
                        entry.told == nil ? nil : max(entry.pacedUntil ?? now, now) + limits.changeInterval
                    entries.values[place].told = change.service
                    changes.append(change.told)
                }
            }
            deadlines.set(instance, to: earlier(entry.nextDeadline(limits), later))
            if !isSettled && entry.isInitial && entries.values[place].isAwaited {
                awaited.insert(instance)
            } else {
                awaited.remove(instance)
            }
        }
        changes += fillUp(now: now)
        changes += settleIfDone()
        return changes
    }

    private mutating func change(
        of entry: CatalogEntry
    ) -> (service: DiscoveredService, told: Change<DiscoveredService>)? {
        guard entry.told == nil ? entry.isReady : entry.hasNews else { return nil }
        var service = entry.service(subtypes: subtypes, family: query.family, addressLimit: limits.addressesPerHost)
        if service.state == .resolved, unreachable.contains(entry.instance) { service.state = .unreachable }
        // Most are seen on the same links, and share the list.
        if service.interfaces == lastInterfaces {
            service.interfaces = lastInterfaces
        } else {
            lastInterfaces = service.interfaces
        }
        guard let old = entry.told else { return (service, .found(service)) }
        return old == service ? nil : (service, .changed(service))
    }

    /// Remembers when a service may be found again, of as many as the query may have.
    private mutating func ended(_ instance: ServiceInstance, now: Duration) {
        guard limits.changeInterval > .zero else { return }
        if returns.count >= limits.services { returns = returns.filter { now < $0.value } }
        if returns.count < limits.services { returns[instance] = now + limits.changeInterval }
    }

    private var subtypes: [String] {
        guard case .type(let type, _) = query.target, let subtype = type.subtype else { return [] }
        return [subtype]
    }

    mutating func remove(_ instance: ServiceInstance) {
        entries[instance] = nil
        entries.giveBack()
        spares.remove(instance)
        deadlines.set(instance, to: nil)
        awaited.remove(instance)
        gone(instance)
    }

    private mutating func settleIfDone() -> [Change<DiscoveredService>] {
        guard isListed, !isSettled, awaited.isEmpty else { return [] }
        isSettled = true
        return [.settled]
    }
}
