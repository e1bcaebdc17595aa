internal import DNSSD
package import Discovery
internal import System

/// Where exports go: the zone's publisher.
package protocol ExportTarget: Sendable {
    /// Publishes a service of the link. A name that is another's is waited for: a second gateway of the link stands by until the lease of the
    /// first has ended.
    func publish(_ export: Export) -> any ExportedService
}

/// One service that a gateway has published.
package protocol ExportedService: AnyObject, Sendable {
    /// Publishes other values, or another host, without a moment of absence.
    func change(to export: Export)
    /// Takes it out of the zone; returns when the server knows, or after `limit`.
    func withdraw(within limit: Duration) async
}

/// Brings services of a link into a zone, as one rule says.
package actor Gateway {
    /// How often this machine's networks are read anew, at most.
    private static let networksHold = Duration.seconds(5)

    private let rule: ExportRule
    private let network: LocalNetwork
    private let target: any ExportTarget
    private let time: any TimeSource
    private var table: ExportTable
    private var exported: [ServiceInstance: any ExportedService] = [:]
    private var admission: (value: ExportAdmission, read: Duration)?
    private var sleeper: (deadline: Duration, task: Task<Void, Never>)?

    package init(
        _ rule: ExportRule, of network: LocalNetwork, into target: any ExportTarget,
        time: any TimeSource = SystemTime()
    ) {
        self.rule = rule
        self.network = network
        self.target = target
        self.time = time
        table = ExportTable(at: time.now)
    }

    package var status: GatewayStatus {
        GatewayStatus(rule: rule, published: table.published, refused: table.refusals)
    }

    /// Follows the link until the task is cancelled; then withdraws everything, `limit` at most.
    package func run(withdrawingWithin limit: Duration = .seconds(2)) async {
        await withTaskGroup { group in
            for type in rule.types {
                let query = ServiceQuery(.type(type, .local), interfaces: rule.interfaces, resolution: .watch)
                let events = network.follow(query)
                group.addTask { await self.follow(events) }
            }
        }
        sleeper?.task.cancel()
        let all = Array(exported.values)
        exported = [:]
        // Not of the cancelled task: what is withdrawn has to be told to the server.
        await Task.detached {
            await withTaskGroup { group in
                for one in all { group.addTask { await one.withdraw(within: limit) } }
            }
        }.value
    }

    private func follow(_ events: ServiceEvents) async {
        do {
            for try await event in events {
                switch event {
                case .found(let service), .changed(let service): table.saw(service, currentAdmission(), at: time.now)
                case .lost(let service): table.lost(service.instance, at: time.now)
                case .settled, .backend, .degraded: continue
                }
                act()
            }
        } catch {
            // The network was shut down, or the task cancelled.
        }
    }

    private func currentAdmission() -> ExportAdmission {
        let now = time.now
        if let admission, now - admission.read < Self.networksHold { return admission.value }
        let local = LocalAddresses.system()
        let routes = SystemRoutes()
        let policy = AddressPolicy()
        let value = ExportAdmission(rule, local: local) { endpoint, isOwn in
            policy.refusal(of: endpoint, isOwn: isOwn, local: local, routes: routes) == nil
        }
        admission = (value, now)
        return value
    }

    private func act() {
        for action in table.due(at: time.now) {
            switch action {
            case .publish(let instance, let export): exported[instance] = target.publish(export)
            case .change(let instance, let export): exported[instance]?.change(to: export)
            case .withdraw(let instance):
                guard let one = exported.removeValue(forKey: instance) else { continue }
                Task { await one.withdraw(within: .seconds(30)) }
            }
        }
        wakeUp(at: table.next)
    }

    private func wakeUp(at deadline: Duration?) {
        guard sleeper?.deadline != deadline else { return }
        sleeper?.task.cancel()
        sleeper = nil
        guard let deadline else { return }
        let task = Task { [weak self, time] in
            guard (try? await time.sleep(until: deadline)) != nil else { return }
            await self?.awake()
        }
        sleeper = (deadline, task)
    }

    private func awake() {
        sleeper = nil
        act()
    }
}
