import DNSSD
import Discovery

/// The state of a simulated network: its machines, their operations, and undelivered reports.
///
/// After each change every operation's view is recomputed, and the difference from what it has reported becomes its next report.
struct SimulatedWorld: Sendable {
    struct Report: Sendable {
        let operation: UInt64
        /// When it is heard, on the network's clock.
        let due: Duration
        let deliver: @Sendable () -> Void
    }

    /// The network's domains.
    var domains: [Domain] = [.local]
    /// Services are learned from a server rather than on an interface.
    var isUnicast = false
    var machines: [String: SimulatedMachine] = [:]
    var operations: [UInt64: SimulatedOperation] = [:]
    private(set) var reports: [Report] = []
    var conditions: SimulatedConditions
    /// Names that a host has which nobody sees.
    var claimed: Set<ServiceInstance> = []
    /// The reading of the network's clock at this change.
    var now = Duration.zero
    private var lastID: UInt64 = 0
    /// The publications established under each name; valid while `reconcile` runs.
    private var holders: [ServiceInstance: Set<UInt64>] = [:]
    /// Established publications, in the order they were started; valid while operations observe.
    private(set) var published: [(id: UInt64, machine: String, publication: SimulatedOperation.Publication)] = []

    init(domains: [Domain], isUnicast: Bool, _ conditions: SimulatedConditions) {
        (self.domains, self.isUnicast, self.conditions) = (domains, isUnicast, conditions)
    }

    mutating func start(_ kind: SimulatedOperation.Kind, on machine: String) -> UInt64 {
        lastID += 1
        operations[lastID] = SimulatedOperation(machine: machine, kind: kind)
        return lastID
    }

    mutating func cancel(_ ids: [UInt64]) {
        for id in ids { operations[id] = nil }
        reports.removeAll { ids.contains($0.operation) }
        conditions.forget(ids)
    }

    /// Updates every operation, publications first, because the others depend on them.
    mutating func reconcile() {
        let ids = operations.keys.sorted()
        holders = [:]
        for (id, operation) in operations {
            if case .publication(let publication) = operation.kind, publication.isEstablished {
                holders[publication.instance, default: []].insert(id)
            }
        }
        for id in ids { publish(id) }
        published = ids.compactMap { id in
            guard let operation = operations[id], case .publication(let publication) = operation.kind,
                publication.isEstablished
            else { return nil }
            return (id, operation.machine, publication)
        }
        for id in ids { observe(id) }
    }

    /// Reports what a machine knows without hearing it.
    mutating func report(_ id: UInt64, _ deliver: @escaping @Sendable () -> Void) {
        reports.append(Report(operation: id, due: now, deliver: deliver))
    }

    /// Reports what `machine` hears of a service, or with nil of all of them.
    mutating func report(
        _ id: UInt64, of instance: ServiceInstance?, to machine: String, _ deliver: @escaping @Sendable () -> Void
    ) {
        let channel = SimulatedConditions.Channel(operation: id, instance: instance)
        reports.append(
            Report(operation: id, due: conditions.due(channel, at: machine, now: now), deliver: deliver))
    }

    func hasReport(at time: Duration) -> Bool { reports.contains { $0.due <= time } }

    /// When the next report is due that is not yet.
    var nextDue: Duration? { reports.lazy.map(\.due).min() }

    /// The first report that is due, by its time and then in its order.
    mutating func takeReport(at time: Duration) -> Report? {
        // Everything is heard in its order.
        if !conditions.hasDelayed { return reports.first.map { $0.due <= time } == true ? reports.removeFirst() : nil }
        var next: Int?
        for index in reports.indices where reports[index].due <= time {
            if next.map({ reports[index].due < reports[$0].due }) ?? true { next = index }
        }
        return next.map { reports.remove(at: $0) }
    }

    func reaches(_ one: String, _ other: String) -> Bool {
        one == other || machines[one]?.segment == machines[other]?.segment
    }
}

// MARK: Publishing
extension SimulatedWorld {
    private mutating func publish(_ id: UInt64) {
        guard var operation = operations[id], case .publication(var publication) = operation.kind,
            let machine = machines[operation.machine]
        else { return }
        let (before, wasEstablished) = (publication.instance, publication.isEstablished)
        defer {
            if wasEstablished { holders[before]?.remove(id) }
            if publication.isEstablished, operations[id] != nil {
                holders[publication.instance, default: []].insert(id)
            }
            if operations[id] != nil {
                operation.kind = .publication(publication)
                operations[id] = operation
            }
        }
        func tell(_ state: PublicationFact.State) {
            let (fact, report) = (PublicationFact(name: publication.name, state: state), publication.report)
            self.report(id) { report(fact) }
        }
        guard domains.contains(where: { publication.service.domain.isWithin($0) }) else {
            let text = "the simulated network has no domain \(publication.service.domain)"
            tell(.failed(DiscoveryError(.invalidDomain, text)))
            operations[id] = nil
            return
        }
        guard machine.isUp else {
            guard operation.backend?.reason == nil else { return }
            operation.backend = .down("stopped")
            // Without a goodbye the others still see it, so for them it stays established.
            if machine.backend != .down(saidGoodbye: false) { publication.isEstablished = false }
            tell(.waiting("the simulated backend is not running"))
            return
        }
        let isBack = operation.backend != .up
        operation.backend = .up
        var isTaken = isTaken(publication.instance, than: id, on: operation.machine)
        guard isBack || isTaken || !publication.isEstablished else { return }
        publication.isEstablished = false
        if let refusal = machine.refusal {
            guard publication.isPersistent || publication.wasEstablished else {
                tell(.failed(refusal))
                operations[id] = nil
                return
            }
            if isBack || publication.refusal != refusal { tell(.refused(refusal)) }
            publication.refusal = refusal
            return
        }
        publication.refusal = nil
        while isTaken {
            guard publication.policy == .rename else {
                guard !publication.isPersistent else {
                    let refusal = DiscoveryError(.nameTaken, "\(publication.name) is taken")
                    if isBack || publication.refusal != refusal { tell(.refused(refusal)) }
                    publication.refusal = refusal
                    return
                }
                tell(.conflicted(DiscoveryError(.nameTaken, "\(publication.name) is taken")))
                operations[id] = nil
                return
            }
            publication.name = publication.name.nextAfterCollision()
            isTaken = self.isTaken(publication.instance, than: id, on: operation.machine)
        }
        tell(.registering)
        publication.isEstablished = true
        publication.wasEstablished = true
        tell(.established)
    }

    /// Whether another publication claimed the name first.
    private func isTaken(_ instance: ServiceInstance, than id: UInt64, on machine: String) -> Bool {
        if claimed.contains(instance) { return true }
        guard let holders = holders[instance] else { return false }
        let isOwnEstablished = holders.contains(id)
        return holders.contains { other in
            other != id && operations[other].map { reaches(machine, $0.machine) } ?? false
                && (!isOwnEstablished || other < id)
        }
    }
}
