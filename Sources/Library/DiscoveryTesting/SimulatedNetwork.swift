public import DNSSD
import Discovery
import DiscoveryPOSIX
import Records

/// Machines that publish and browse within one process: deterministic and without packets. They hear each other at once and always, unless
/// `setDelay(_:of:)`, `setLoss(_:)`, `partition(_:)` or a `NetworkScript` changes that; then a clock counts that the test turns.
///
/// Others see a machine's change in their next report. Services are visible on the interfaces that share a link, and on all interfaces of
/// their own machine, loopback included. Names are probed for and defended by the rules of the engine on the wire (RFC 6762 §8, §9), in a time of
/// their own: who has a name is known at once.
public final class SimulatedNetwork: Sendable {
    /// When reports are delivered.
    public enum Delivery: Sendable {
        /// As soon as there are any, by a separate task.
        case automatic
        /// Only when the test calls `deliver()`, so that it knows what has happened.
        case byHand
    }

    private struct State {
        var world: SimulatedWorld
        var isDelivering = false
        /// What scripts have left to do, in order.
        var cues: [NetworkScript.Cue] = []
    }

    private let delivery: Delivery
    private let state: Locked<State>

    /// The clock of delays, losses and scripts; the one to give to each `LocalNetwork`.
    public let time: TestTime

    /// The network's domains.
    public let domains: [Domain]

    /// Creates a network without machines.
    /// - Parameters:
    ///   - domains: the domains that can be queried, each with its subdomains.
    ///   - isUnicast: services are learned from a server rather than on an interface, as beyond the link.
    ///   - delivery: when a machine hears of a change.
    ///   - time: the clock of delays, losses and scripts.
    ///   - seed: decides what is lost: the same seed loses the same.
    public init(
        domains: [Domain] = [.local], isUnicast: Bool = false, delivery: Delivery = .automatic,
        time: TestTime = TestTime(), seed: UInt64 = 1
    ) {
        (self.domains, self.delivery, self.time) = (domains, delivery, time)
        state = Locked(State(world: SimulatedWorld(domains: domains, isUnicast: isUnicast, seed: seed)))
    }

    /// Adds a machine.
    /// - Parameters:
    ///   - name: by which the other calls mean it; one of the same name is replaced.
    ///   - host: `NAME.local` unless told.
    ///   - interfaces: `lo`, and `eth0` with two addresses, unless told.
    ///   - isBackendRunning: what finds and publishes runs from the start.
    /// - Throws: where the name makes no host name (RFC 1035 §2.3.4).
    public func addMachine(
        _ name: String,
        host: HostName? = nil,
        interfaces: [SimulatedInterface]? = nil,
        isBackendRunning: Bool = true
    ) throws(DiscoveryError) -> SimulatedEngine {
        let host = if let host { host } else { try HostName("\(name).local") }
        change { world in
            let interfaces = interfaces ?? [.loopback, .ethernet(world.machines.count + 1)]
            var machine = SimulatedMachine(name: name, host: host, interfaces: interfaces)
            machine.backend = isBackendRunning ? .up : .absent
            world.machines[name] = machine
            world.haveLinksChanged = true
        }
        return SimulatedEngine(machine: name, network: self)
    }

    /// Stops a machine's backend. Without a goodbye, the others still see its services.
    public func stopBackend(of machine: String, sayingGoodbye: Bool = true) {
        change { $0.machines[machine]?.backend = .down(saidGoodbye: sayingGoodbye) }
    }

    /// Starts the backend again and restores its queries and publications.
    public func startBackend(of machine: String) { change { $0.machines[machine]?.backend = .up } }

    /// Splits the network: only machines of the same group reach each other; those in no group form another.
    public func partition(_ groups: [[String]]) {
        change { world in
            for name in world.machines.keys {
                world.machines[name]?.segment = groups.firstIndex { $0.contains(name) } ?? groups.count
            }
            world.meetAgain()
        }
    }

    /// Joins all groups again. All say what they have; of two machines that have the same name one is renamed (RFC 6762 §9).
    public func heal() { partition([]) }

    /// Replaces the interfaces and addresses of a machine.
    public func setInterfaces(of machine: String, to interfaces: [SimulatedInterface]) {
        change { world in
            world.machines[machine]?.interfaces = interfaces
            world.haveLinksChanged = true
        }
    }

    /// Takes an interface up or down; services seen there disappear while it is down.
    public func setLink(_ interface: String, of machine: String, isUp: Bool) {
        change { world in
            if isUp {
                world.machines[machine]?.downInterfaces.remove(interface)
            } else {
                world.machines[machine]?.downInterfaces.insert(interface)
            }
            world.haveLinksChanged = true
        }
    }

    /// Sets whether a machine's services can be resolved.
    public func setAnswers(of machine: String, to answers: Bool) { change { $0.machines[machine]?.answers = answers } }

    /// Sets the error with which a backend refuses publications; nil accepts them. Existing publications stay until the backend stops.
    public func setRefusal(of machine: String, to refusal: DiscoveryError?) {
        change { world in
            world.machines[machine]?.refusal = refusal
            world.mayRetry = true
        }
    }

    /// Replaces the TXT record of the service that `machine` publishes as `name`.
    public func setTXT(of name: ServiceName, on machine: String, to txt: TXTRecord) {
        change { world in
            for (id, operation) in world.operations where operation.machine == machine {
                guard case .publication(var publication) = operation.kind, publication.registration.name == name
                else { continue }
                (publication.service.txt, publication.isChanged) = (txt, true)
                world.operations[id]?.kind = .publication(publication)
            }
        }
    }

    /// Queries and publications that have started and not ended.
    public var openOperations: Int { state.withLock { $0.world.operations.count } }

    /// Delivers all reports that are due in turn, including those that follow from them.
    /// - Returns: how many were delivered.
    @discardableResult
    public func deliver() -> Int {
        var count = 0
        while let report = state.withLock({ $0.world.takeReport(at: time.now) }) {
            report.deliver()
            count += 1
        }
        return count
    }

    /// Queries and publications of one machine that have started and not ended.
    public func openOperations(of machine: String) -> Int {
        state.withLock { $0.world.operations.values.count { $0.machine == machine } }
    }

    func start(_ kind: SimulatedOperation.Kind, on machine: String) -> UInt64 {
        change { $0.start(kind, on: machine) }
    }

    func update(_ id: UInt64, _ body: (inout OfferedService) -> Void) {
        change { world in
            guard case .publication(var publication) = world.operations[id]?.kind else { return }
            body(&publication.service)
            publication.isChanged = true
            world.operations[id]?.kind = .publication(publication)
        }
    }

    func cancel(_ id: UInt64) { change { $0.cancel([id]) } }

    func shutDown(_ machine: String) {
        change { world in world.cancel(world.operations.filter { $0.value.machine == machine }.map(\.key)) }
    }

    private func change<Result>(_ body: (inout SimulatedWorld) -> Result) -> Result {
        let (result, mustDeliver) = state.withLock { state in
            state.world.now = time.now
            let result = body(&state.world)
            state.world.reconcile()
            guard delivery == .automatic, !state.isDelivering, state.world.hasReport(at: time.now) else {
                return (result, false)
            }
            state.isDelivering = true
            return (result, true)
        }
        // In a separate task, because a report must not arrive within the call that caused it.
        if mustDeliver { Task { self.deliverAll() } }
        return result
    }

    func changeNow(_ body: (inout SimulatedWorld) -> Void) { change { body(&$0) } }

    // MARK: Scripts

    func schedule(_ cues: [NetworkScript.Cue]) {
        let now = time.now
        state.withLock { state in
            state.cues += cues.map { NetworkScript.Cue(at: now + max($0.time, .zero), $0.step) }
            // Stable: those of one time stay in their order.
            state.cues = state.cues.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
                .map(\.element)
        }
    }

    /// The steps whose time has come.
    func takeSteps() -> [NetworkScript.Step] {
        let now = time.now
        return state.withLock { state in
            let due = state.cues.prefix { $0.time <= now }.map(\.step)
            state.cues.removeFirst(due.count)
            return due
        }
    }

    /// When next something happens or is due; nil if not until `end`.
    func nextEvent(before end: Duration) -> Duration? {
        let next = state.withLock { state in [state.cues.first?.time, state.world.nextDue].compactMap { $0 }.min() }
        return next.flatMap { $0 <= end ? $0 : nil }
    }

    /// Delivers what is due: here, or by a task if that is how this network delivers.
    func deliverDue() -> Int {
        change { _ in }
        return delivery == .byHand ? deliver() : 0
    }

    private func deliverAll() {
        while true {
            let report = state.withLock { state in
                let report = state.world.takeReport(at: time.now)
                if report == nil { state.isDelivering = false }
                return report
            }
            guard let report else { return }
            report.deliver()
        }
    }
}

extension EngineConformance.Backend {
    /// The network as seen by a simulated machine.
    public init(of machine: String, in network: SimulatedNetwork) {
        self.init(
            stop: { network.stopBackend(of: machine) },
            start: { network.startBackend(of: machine) }
        )
    }
}
