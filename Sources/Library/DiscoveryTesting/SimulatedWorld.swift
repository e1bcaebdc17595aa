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
    /// Who has which name.
    var links: SimulatedLinks
    /// Services may have to be claimed on other links.
    var haveLinksChanged = false
    /// What was refused may be taken now.
    var mayRetry = false
    /// The reading of the network's clock at this change.
    var now = Duration.zero
    private var lastID: UInt64 = 0
    /// Established publications, in the order they were started; valid while operations observe.
    private(set) var published: [(id: UInt64, machine: String, publication: SimulatedOperation.Publication)] = []

    init(domains: [Domain], isUnicast: Bool, seed: UInt64) {
        (self.domains, self.isUnicast) = (domains, isUnicast)
        (conditions, links) = (SimulatedConditions(seed: seed), SimulatedLinks(seed: seed))
    }

    mutating func start(_ kind: SimulatedOperation.Kind, on machine: String) -> UInt64 {
        lastID += 1
        operations[lastID] = SimulatedOperation(machine: machine, kind: kind)
        return lastID
    }

    mutating func cancel(_ ids: [UInt64]) {
        for id in ids { end(id) }
        mayRetry = true
        reports.removeAll { ids.contains($0.operation) }
        conditions.forget(ids)
    }

    /// Updates every operation, publications first, because the others depend on them.
    mutating func reconcile() {
        let ids = operations.keys.sorted()
        links.segments = machines.mapValues(\.segment)
        askForFirstNames()
        for id in ids { publish(id) }
        settle()
        (haveLinksChanged, mayRetry) = (false, false)
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

    /// When the next report is due that is not yet, a service is tried again, or a machine asks for its first name.
    var nextDue: Duration? { [reports.lazy.map(\.due).min(), nextRetry, nextAsking].compactMap(\.self).min() }

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
