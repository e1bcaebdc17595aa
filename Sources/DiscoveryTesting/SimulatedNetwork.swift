public import DNSSD
import Discovery
import System

/// Machines that publish and browse, joined in one process: deterministic, without packets, latency or a clock.
///
/// What a machine does is seen by the others in the next report. Services are seen on the interfaces that share a link, and
/// on all of the machine's own, loopback too; the machine that has a name first keeps it.
public final class SimulatedNetwork: Sendable {
    /// Who delivers reports.
    public enum Delivery: Sendable {
        /// A task of its own, as soon as there are some.
        case automatic
        /// `deliver()`, so that a test knows what has happened.
        case byHand
    }

    private struct State {
        var world = SimulatedWorld()
        var isDelivering = false
    }

    private let delivery: Delivery
    private let state = Locked(State())

    /// Its domains.
    public let domains: [Domain]

    /// Creates a network without machines.
    /// - Parameters:
    ///   - domains: what can be asked for, with all below each.
    ///   - isUnicast: services are learned from a server, on no interface, as beyond the link.
    public init(
        domains: [Domain] = [.local], isUnicast: Bool = false, delivery: Delivery = .automatic
    ) {
        self.domains = domains
        self.delivery = delivery
        state.withLock { state in
            state.world.domains = domains
            state.world.isUnicast = isUnicast
        }
    }

    /// Joins a machine with a running backend; without `interfaces` it has `lo` and `eth0` with two addresses.
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
        }
        return SimulatedEngine(machine: name, network: self)
    }

    /// Stops a machine's backend; without goodbyes the others go on seeing its services.
    public func stopBackend(of machine: String, sayingGoodbye: Bool = true) {
        change { $0.machines[machine]?.backend = .down(saidGoodbye: sayingGoodbye) }
    }

    /// Starts it again; what was asked of it is done again.
    public func startBackend(of machine: String) { change { $0.machines[machine]?.backend = .up } }

    /// Lets only the machines of one group reach each other; the others are a group too.
    public func partition(_ groups: [[String]]) {
        change { world in
            for name in world.machines.keys {
                world.machines[name]?.segment = groups.firstIndex { $0.contains(name) } ?? groups.count
            }
        }
    }

    /// Lets all machines reach each other; of two with the same name the later is renamed.
    public func heal() { partition([]) }

    /// Replaces the interfaces and addresses of a machine.
    public func setInterfaces(of machine: String, to interfaces: [SimulatedInterface]) {
        change { $0.machines[machine]?.interfaces = interfaces }
    }

    /// Whether an interface of a machine is up; while it is not, what was seen there is out of sight.
    public func setLink(_ interface: String, of machine: String, isUp: Bool) {
        change { world in
            if isUp {
                world.machines[machine]?.downInterfaces.remove(interface)
            } else {
                world.machines[machine]?.downInterfaces.insert(interface)
            }
        }
    }

    /// Whether services of a machine resolve.
    public func setAnswers(of machine: String, to answers: Bool) { change { $0.machines[machine]?.answers = answers } }

    /// Why the backend of a machine takes no publication from now on, nil: it does; what it has taken stays until it stops.
    public func setRefusal(of machine: String, to refusal: DiscoveryError?) {
        change { $0.machines[machine]?.refusal = refusal }
    }

    /// Replaces the TXT record of what is published on `machine` under `name`.
    public func setTXT(of name: ServiceName, on machine: String, to txt: TXTRecord) {
        change { world in
            for (id, operation) in world.operations where operation.machine == machine {
                guard case .publication(var publication) = operation.kind, publication.name == name else { continue }
                publication.service.txt = txt
                world.operations[id]?.kind = .publication(publication)
            }
        }
    }

    /// Queries and publications that were started and have not ended.
    public var openOperations: Int { state.withLock { $0.world.operations.count } }

    /// Delivers all reports, also those that follow from them, one after another.
    /// - Returns: how many there were.
    @discardableResult
    public func deliver() -> Int {
        var count = 0
        while let report = state.withLock({ $0.world.takeReport() }) {
            report.deliver()
            count += 1
        }
        return count
    }

    /// The same for one machine.
    public func openOperations(of machine: String) -> Int {
        state.withLock { $0.world.operations.values.count { $0.machine == machine } }
    }

    func start(_ kind: SimulatedOperation.Kind, on machine: String) -> UInt64 {
        change { $0.start(kind, on: machine) }
    }

    func update(_ id: UInt64, txt: TXTRecord) {
        change { world in
            guard case .publication(var publication) = world.operations[id]?.kind else { return }
            publication.service.txt = txt
            world.operations[id]?.kind = .publication(publication)
        }
    }

    func cancel(_ id: UInt64) { change { $0.cancel([id]) } }

    func shutDown(_ machine: String) {
        change { world in world.cancel(world.operations.filter { $0.value.machine == machine }.map(\.key)) }
    }

    private func change<Result>(_ body: (inout SimulatedWorld) -> Result) -> Result {
        let (result, mustDeliver) = state.withLock { state in
            let result = body(&state.world)
            state.world.reconcile()
            guard delivery == .automatic, !state.isDelivering, !state.world.reports.isEmpty else {
                return (result, false)
            }
            state.isDelivering = true
            return (result, true)
        }
        // A task of its own, for a report must not come from within the call that caused it.
        if mustDeliver { Task { self.deliverAll() } }
        return result
    }

    private func deliverAll() {
        while true {
            let report = state.withLock { state in
                let report = state.world.takeReport()
                if report == nil { state.isDelivering = false }
                return report
            }
            guard let report else { return }
            report.deliver()
        }
    }
}

extension SimulatedWorld {
    fileprivate mutating func takeReport() -> Report? { reports.isEmpty ? nil : reports.removeFirst() }
}

extension EngineConformance.Backend {
    /// A simulated machine's.
    public init(of machine: String, in network: SimulatedNetwork) {
        self.init(
            stop: { network.stopBackend(of: machine) },
            start: { network.startBackend(of: machine) }
        )
    }
}
