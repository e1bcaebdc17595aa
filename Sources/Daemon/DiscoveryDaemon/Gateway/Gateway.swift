package import DNSSD
package import Discovery
internal import DiscoveryJSON
internal import DiscoverySystem

/// Where exports go: the publisher of the zone, or of the other link.
package protocol ExportTarget: Sendable {
    /// Publishes a service of the link. A name that is another's is waited for: a second gateway of the link stands by until the lease of the
    /// first has ended.
    func publish(_ export: Export) -> any ExportedService
    /// All that was there at the start was published; called once.
    func isComplete()
    /// The gateway ends: what is withdrawn from here on is there all the same.
    func end()
    /// The other sites that follow it.
    var connected: [String] { get }
    /// Why nothing can be published now; nil when all is well.
    var trouble: String? { get }
}

extension ExportTarget {
    package func isComplete() {}
    package func end() {}
    package var connected: [String] { [] }
    package var trouble: String? { nil }
}

/// How another site's daemon is.
package struct SiteState: Hashable, Sendable {
    /// Why nothing comes from it; nil when something does.
    package var trouble: String?
    /// Where it was last reached.
    package var address: IPAddress?

    package init(trouble: String? = nil, address: IPAddress? = nil) {
        (self.trouble, self.address) = (trouble, address)
    }
}

/// One service that a gateway has published.
package protocol ExportedService: AnyObject, Sendable {
    /// Publishes other values, or another host, without a moment of absence.
    func change(to export: Export)
    /// Takes it back; returns when the server, or the link, knows, or after `limit`.
    func withdraw(within limit: Duration) async
}

/// Brings services of a link into a zone, to another link or to other sites, or of another site to a link, as one rule says.
package actor Gateway {
    /// How often this machine's networks are read anew, at most.
    private static let networksHold = Duration.seconds(5)
    /// How often services are judged anew: an address or a route that comes or goes says nothing of itself.
    private static let judgementsHold = Duration.seconds(10)
    /// How long a query that has failed waits until it is tried again, the first time and at most.
    private static let retries = (first: Duration.seconds(1), longest: Duration.seconds(60))

    /// How long nothing is published where it is not known what the other link has, as where that is down.
    private static let patienceWithOthers = Duration.seconds(3)

    private let rule: ExportRule
    private let events: @Sendable (ServiceQuery) -> ServiceEvents
    private let peer: @Sendable () -> SiteState
    private let makeAdmission: @Sendable () -> ExportAdmission
    private let log: DaemonLog
    private let target: any ExportTarget
    private let time: any TimeSource
    private var table: ExportTable
    private var exported: [ServiceInstance: any ExportedService] = [:]
    private var admission: (value: ExportAdmission, read: Duration)?
    private var sleeper: (deadline: Duration, task: Task<Void, Never>)?
    /// What the link or site has of a type, as far as it was told.
    private var present: [ServiceType: [ServiceInstance: DiscoveredService]] = [:]
    /// What counts of it while the site is away.
    private var absences: [ServiceType: PeerAbsence] = [:]
    /// Types of which not all that was there at the start is known.
    private var unsettled: Set<ServiceType>
    /// Everything is being withdrawn: nothing is published any more.
    private var isEnding = false
    /// Types of which it is not known yet what the other link has.
    private var unknown: Set<ServiceType>
    /// Types whose query has failed, and why.
    private var failures: [ServiceType: String] = [:]

    /// - Parameters:
    ///   - peer: how the site is whose services these are.
    ///   - admission: as addresses and routes are now, in the place of the system's.
    ///   - events: of a query about the link, or to the site.
    package init(
        _ rule: ExportRule, into target: any ExportTarget, log: DaemonLog, time: any TimeSource = SystemTime(),
        peer: @escaping @Sendable () -> SiteState = { SiteState() },
        admission: (@Sendable () -> ExportAdmission)? = nil,
        events: @escaping @Sendable (ServiceQuery) -> ServiceEvents
    ) {
        self.peer = peer
        makeAdmission = admission ?? { ExportAdmission(rule, peer: peer().address) }
        unsettled = Set(rule.types)
        self.rule = rule
        self.events = events
        self.log = log
        self.target = target
        self.time = time
        let now = time.now
        table = ExportTable(
            at: now, pace: rule.pace, opens: rule.otherLinks == nil ? nil : now + Self.patienceWithOthers)
        unknown = rule.otherLinks == nil ? [] : Set(rule.types)
    }

    package var status: GatewayStatus {
        GatewayStatus(
            rule: rule, published: table.published, refused: table.refusals,
            failure: failures.min { $0.key < $1.key }?.value ?? peer().trouble ?? target.trouble ?? missingLinks,
            connected: target.connected)
    }

    /// What the rule names, and this machine has not.
    private var missingLinks: String? {
        guard let links = InterfaceAddress.all().map({ Set($0.map(\.interface.name)) }) else { return nil }
        var filters: [InterfaceFilter] = []
        if case .links(let from) = rule.source { filters.append(from) }
        if case .links(let other) = rule.destination { filters.append(other.interfaces) }
        let missing = filters.filter { filter in !links.contains { filter.allows($0) } }
        guard !missing.isEmpty else {
            guard let others = rule.otherLinks else { return nil }
            let isApart = links.contains { filters[0].allows($0) && !others.allows($0) }
            return isApart ? nil : "each link that it is from is one of those that it is to: nothing is mirrored"
        }
        return
            "there is no link \(missing.map { $0.patterns.joined(separator: ", ") }.joined(separator: " and no link "))"
    }

    /// Follows the link until the task is cancelled; then withdraws everything, in 2 s at most.
    package func run() async {
        let again = Task { await self.judgeAgain() }
        await withTaskGroup { group in
            for type in rule.followed {
                group.addTask { await self.follow(type) }
            }
            if let links = rule.otherLinks {
                for type in rule.types { group.addTask { await self.followOthers(type, on: links) } }
            }
        }
        again.cancel()
        isEnding = true
        target.end()
        sleeper?.task.cancel()
        let all = Array(exported.values)
        exported = [:]
        // Not of the cancelled task: what is withdrawn has to be told to the server.
        await Task.detached {
            await withTaskGroup { group in
                for one in all { group.addTask { await one.withdraw(within: .seconds(2)) } }
            }
        }.value
    }

    /// Follows one type. A query that fails is tried again; what it has found stays exported meanwhile.
    private func follow(_ type: ServiceType) async {
        let query = ServiceQuery(.type(type, .local), interfaces: rule.interfaces, resolution: .watch)
        var delay = Self.retries.first
        while !Task.isCancelled {
            do throws(DiscoveryError) {
                try await follow(type, events(query)) { delay = Self.retries.first }
                return
            } catch {
                // The engine ends beside it when the daemon does, or before it.
                guard !Task.isCancelled, error.code != .closed else { return }
                note(error.message, of: type)
            }
            guard (try? await time.sleep(until: time.now + delay)) != nil else { return }
            delay = min(delay * 2, Self.retries.longest)
        }
    }

    private func follow(
        _ type: ServiceType, _ events: ServiceEvents, whenSettled: () -> Void
    ) async throws(DiscoveryError) {
        // Of an earlier query that failed.
        var unconfirmed = Set(present[type, default: [:]].keys)
        for try await event in events {
            switch event {
            case .found(let service), .changed(let service):
                present[type, default: [:]][service.instance] = service
                unconfirmed.remove(service.instance)
                if absences[type]?.counts ?? true { table.saw(service, currentAdmission(), at: time.now) }
            case .lost(let service): lost(service.instance, type)
            case .settled:
                for instance in unconfirmed { lost(instance, type) }
                unconfirmed = []
                note(nil, of: type)
                whenSettled()
                settled(type)
            case .backend(let state):
                guard case .peer = rule.source, state.reason != nil else { continue }
                absences[type, default: PeerAbsence()].lost(at: time.now)
            case .degraded: continue
            }
            act()
            if case .settled = event, unsettled.remove(type) != nil, unsettled.isEmpty { target.isComplete() }
        }
    }

    /// Follows what the other link has by itself: the host of a service may be there, too.
    private func followOthers(_ type: ServiceType, on links: InterfaceFilter) async {
        let query = ServiceQuery(.type(type, .local), interfaces: links, resolution: .watch)
        while !Task.isCancelled {
            var there: Set<ServiceInstance> = []
            do throws(DiscoveryError) {
                for try await event in events(query) {
                    switch event {
                    case .found(let service), .changed(let service):
                        there.insert(service.instance)
                        // One that does not answer any more may have left without a goodbye.
                        let host = service.state == .resolved ? service.host : nil
                        table.isThere(service.instance, on: host, at: time.now)
                    case .lost(let service):
                        there.remove(service.instance)
                        table.isThere(service.instance, on: nil, at: time.now)
                    case .settled: othersAreKnown(of: type)
                    case .backend, .degraded: continue
                    }
                    act()
                }
                return
            } catch {
                guard !Task.isCancelled, error.code != .closed else { return }
                for instance in there { table.isThere(instance, on: nil, at: time.now) }
                othersAreKnown(of: type)
                act()
            }
            guard (try? await time.sleep(until: time.now + Self.retries.longest)) != nil else { return }
        }
    }

    private func othersAreKnown(of type: ServiceType) {
        guard unknown.remove(type) != nil, unknown.isEmpty else { return }
        table.othersAreKnown(at: time.now)
    }

    private func lost(_ instance: ServiceInstance, _ type: ServiceType) {
        present[type]?[instance] = nil
        guard !present.values.contains(where: { $0[instance] != nil }) else { return }
        table.lost(instance, at: time.now)
    }

    /// Everything of a type was told, for the first time or after a break.
    private func settled(_ type: ServiceType) {
        guard absences[type]?.told() == true else { return }
        judgeAnew(type)
    }

    private func judgeAnew(_ type: ServiceType) {
        for service in present[type, default: [:]].values { table.saw(service, currentAdmission(), at: time.now) }
    }

    /// Judges anew at times what may be judged otherwise without news of it: all that a site has told, and what of a link is left out.
    private func judgeAgain() async {
        while (try? await time.sleep(until: time.now + Self.judgementsHold)) != nil {
            // What this machine has now, and not as of some seconds ago.
            admission = nil
            switch rule.source {
            case .peer: for type in rule.types where absences[type]?.counts ?? true { judgeAnew(type) }
            case .links:
                // First of all which: a service comes once of its type, and once of each subtype.
                let out = present.values.flatMap(\.values).filter { table.mayComeIn($0.instance) }
                for service in out { table.saw(service, currentAdmission(), at: time.now) }
            }
            act()
        }
    }

    /// Withdraws what a site has told that is away for too long; what is known of it stays, for when it is back.
    private func endAbsences() {
        let now = time.now
        for type in rule.types where absences[type]?.isOver(at: now) == true {
            for instance in present[type, default: [:]].keys { table.lost(instance, at: now) }
        }
    }

    private func note(_ failure: String?, of type: ServiceType) {
        guard failures[type] != failure else { return }
        failures[type] = failure
        if let failure {
            log.warning(
                "services of \(type) are not followed for \(rule.destination), and this is tried again: \(failure)")
        } else {
            log.notice("services of \(type) are followed for \(rule.destination) again")
        }
    }

    private func currentAdmission() -> ExportAdmission {
        let now = time.now
        if let admission, now - admission.read < Self.networksHold { return admission.value }
        let value = makeAdmission()
        admission = (value, now)
        return value
    }

    private func act() {
        guard !isEnding else { return }
        endAbsences()
        for action in table.due(at: time.now) {
            switch action {
            case .publish(let instance, let export): exported[instance] = target.publish(export)
            case .change(let instance, let export): exported[instance]?.change(to: export)
            case .withdraw(let instance):
                guard let one = exported.removeValue(forKey: instance) else { continue }
                Task { await one.withdraw(within: .seconds(30)) }
            }
        }
        wakeUp(at: (absences.values.map(\.deadline) + [table.next]).compactMap(\.self).min())
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

extension ExportRule.Destination: CustomStringConvertible {
    /// What messages call it.
    public var description: String {
        switch self {
        case .zone(let domain): domain.description
        case .links(let links): links.interfaces.patterns.joined(separator: ", ")
        case .peers: "other sites"
        }
    }
}

extension ExportRule {
    /// The links to which it brings services of a link: their hosts may come there.
    fileprivate var otherLinks: InterfaceFilter? {
        if case .links(let links) = destination, case .links = source { links.interfaces } else { nil }
    }

    fileprivate var pace: ExportPace {
        switch destination {
        case .zone: .zone
        case .links: .link(hasSubtypes: !subtypes.isEmpty)
        case .peers: .list
        }
    }
}
