import DNSSD

/// One attempt to connect: joins the facts of the network, the race and the dialer. Everything it starts ends before `run` returns.
struct Connecting<D: Dialer>: Sendable {
    private enum Happening: Sendable {
        /// The network told something; nil: it tells no more.
        case changes([Change<DiscoveredService>]?)
        case failed(DiscoveryError)
        case dialled(Candidate, Result<D.Connection, DialFailure>)
        case woke(Duration)
    }
    private typealias Group = TaskGroup<Happening>

    private let connector: Connector<D>
    private let target: ConnectTarget
    private let family: IPAddress.Family?
    private let time: any TimeSource
    private let start: Duration
    private let limits: RaceLimits
    private var race: Race<Candidate>
    private var candidates = Candidates()
    private var log: EstablishmentLog
    /// Until when a service must have been heard of.
    private var patienceEnd: Duration
    private var isSettled = false
    private var backendReason: String?
    private var error: DiscoveryError?
    private var armed: [Duration] = []
    private var connection: D.Connection?

    init(
        _ connector: Connector<D>,
        _ target: ConnectTarget,
        family: IPAddress.Family?,
        limits: RaceLimits,
        now: Duration
    ) {
        self.connector = connector
        self.target = target
        self.family = family
        self.limits = limits
        time = connector.network.directory.time
        start = now
        race = Race(limits: limits, now: now)
        log = EstablishmentLog(now: now)
        patienceEnd = now + min(connector.patience, limits.overall)
    }

    mutating func run(_ subscription: Subscription<DiscoveredService>?) async -> Establishment<D.Connection> {
        await withTaskGroup(of: Happening.self) { group in
            if let subscription {
                Self.listen(to: subscription, in: &group)
            } else if case .service(let service) = target {
                candidates.apply(.found(service))
                perform(judge(now: start) + race.listCompleted(now: start), in: &group)
            }
            while race.outcome == nil {
                arm(in: &group)
                guard let happening = await group.next() else { break }
                if case .changes(_?) = happening, let subscription { Self.listen(to: subscription, in: &group) }
                perform(handle(happening), in: &group)
                if Task.isCancelled { perform(race.cancelled(), in: &group) }
            }
            subscription?.end()
            group.cancelAll()
            // A loser may have succeeded before it heard that it lost.
            for await late in group {
                guard case .dialled(_, .success(let connection)) = late else { continue }
                await connector.dialer.close(connection)
            }
        }
        return establishment()
    }

    private static func listen(to subscription: Subscription<DiscoveredService>, in group: inout Group) {
        group.addTask {
            do throws(DiscoveryError) {
                return .changes(try await subscription.next(atMost: 64))
            } catch {
                return .failed(error)
            }
        }
    }

    /// Sees to it that something wakes the loop at the next deadline. Timers that have become needless run out by themselves: there
    /// are no more of them than attempts.
    private mutating func arm(in group: inout Group) {
        var next = race.nextDeadline
        if candidates.services.isEmpty { next = next.map { min($0, patienceEnd) } }
        guard let next, !armed.contains(where: { $0 <= next }) else { return }
        armed.append(next)
        group.addTask { [time] in
            try? await time.sleep(until: next)
            return .woke(next)
        }
    }

    private mutating func handle(_ happening: Happening) -> [Race<Candidate>.Action] {
        let now = time.now
        switch happening {
        case .changes(let changes?):
            for change in changes { apply(change, now: now) }
            var actions = judge(now: now)
            if isSettled, !candidates.services.isEmpty {
                actions += race.listCompleted(now: now)
            }
            return actions + giveUpIfUnheard(now: now)
        case .changes(nil): return race.cancelled()
        case .failed(let error):
            self.error = error
            return race.listCompleted(now: now)
        case .woke(let deadline):
            armed.removeAll { $0 == deadline }
            return race.timePassed(now: now) + giveUpIfUnheard(now: now)
        case .dialled(let candidate, .success(let connection)):
            let actions = race.succeeded(candidate)
            guard race.outcome == .won(candidate) else { return actions }
            self.connection = connection
            log.ended(candidate, .connected, now: now)
            connector.network.directory.history.withLock { $0.succeeded(candidate.endpoint, now: now) }
            return actions
        case .dialled(let candidate, .failure(let failure)):
            log.ended(candidate, failure.outcome, reason: failure.reason, now: now)
            if failure.outcome == .refused || failure.outcome == .timeout { remember(candidate, now: now) }
            return race.failed(candidate, now: now)
        }
    }

    private mutating func apply(_ change: Change<DiscoveredService>, now: Duration) {
        candidates.apply(change)
        switch change {
        case .settled: isSettled = true
        case .backend(.unavailable(let reason)), .backend(.lost(let reason)):
            backendReason = reason
            patienceEnd = min(patienceEnd, now + LocalNetwork.backendPatience)
        case .backend(.available), .backend(.recovered):
            backendReason = nil
            patienceEnd = start + min(connector.patience, limits.overall)
        case .found, .changed, .lost, .degraded: break
        }
    }

    private mutating func giveUpIfUnheard(now: Duration) -> [Race<Candidate>.Action] {
        candidates.services.isEmpty && now >= patienceEnd ? race.listCompleted(now: now) : []
    }

    private mutating func judge(now: Duration) -> [Race<Candidate>.Action] {
        let history = connector.network.directory.history.withLock { $0 }
        let order = EndpointOrder(local: connector.localAddresses(), history: history)
        let (permitted, denied) = candidates.judged(by: connector.policy, order, family: family, now: now)
        for (candidate, refusal) in denied { log.denied(candidate, refusal) }
        if !permitted.isEmpty || !denied.isEmpty { log.learned(now: now) }
        return race.resolved(permitted, now: now)
    }

    private mutating func perform(_ actions: [Race<Candidate>.Action], in group: inout Group) {
        for action in actions {
            // Losers are cancelled together when the race is over, and closed as they end.
            guard case .start(let candidate) = action else { continue }
            log.started(candidate, now: time.now)
            group.addTask { [connector] in
                .dialled(candidate, await Self.dial(candidate, connector))
            }
        }
    }

    private static func dial(
        _ candidate: Candidate,
        _ connector: Connector<D>
    ) async -> Result<D.Connection, DialFailure> {
        // Addresses change between the list and the dial.
        if let refusal = candidate.refusal(by: connector.policy, connector.localAddresses()) {
            return .failure(DialFailure(.denied, refusal.description))
        }
        do {
            return .success(try await connector.dialer.dial(candidate.endpoint))
        } catch let failure as DialFailure {
            return .failure(failure)
        } catch is CancellationError {
            return .failure(DialFailure(.cancelled, "not needed any more"))
        } catch {
            return .failure(DialFailure(.refused, String(describing: error).escapedForTerminal))
        }
    }

    private func remember(_ candidate: Candidate, now: Duration) {
        connector.network.directory.history.withLock { $0.failed(candidate.endpoint, now: now) }
    }
}

// MARK: How it ended
extension Connecting {
    /// The service that was connected to.
    var winner: ServiceInstance? {
        if case .won(let candidate) = race.outcome { candidate.instance } else { nil }
    }

    /// The services all of whose addresses refused, or had a second and did not answer.
    var unreachable: [ServiceInstance] {
        guard race.outcome == .failed || race.outcome == .timedOut else { return [] }
        let attempts = log.attempts.filter { $0.outcome != .denied }
        return candidates.services.filter { service in
            let own = attempts.filter { $0.instance == service.instance }
            let isDead = own.allSatisfy {
                $0.outcome == .refused || ($0.outcome == .timeout && $0.duration >= .seconds(1))
            }
            return !own.isEmpty && isDead && (isTried(service, own) || own.count >= limits.maximumAttempts)
        }.map(\.instance)
    }

    private func isTried(_ service: DiscoveredService, _ attempts: [EstablishmentReport.Attempt]) -> Bool {
        let tried = Set(log.attempts.filter { $0.instance == service.instance }.map(\.endpoint))
        return service.endpoints.allSatisfy { tried.contains($0) || (family != nil && $0.address.family != family) }
    }

    private mutating func establishment() -> Establishment<D.Connection> {
        let now = time.now
        switch race.outcome {
        case .timedOut:
            for attempt in log.running { remember(attempt, now: now) }
            log.closed(.timeout, reason: "no answer", now: now)
        case .won, .failed, .cancelled, nil: log.closed(.cancelled, reason: nil, now: now)
        }
        var report = EstablishmentReport(source: target.source)
        report.resolving = log.resolving
        report.duration = now - start
        report.attempts = log.attempts
        if case .won(let candidate) = race.outcome {
            report.winner = candidate.endpoint
            report.service = candidates.service(candidate.instance)
        } else {
            report.service = candidates.services.last
        }
        if let connection { return Establishment(result: .success(connection), report: report) }
        return Establishment(result: .failure(failure(report)), report: report)
    }

    private func failure(_ report: EstablishmentReport) -> DiscoveryError {
        if race.outcome == .cancelled { return DiscoveryError(.closed, "connecting to \(target.text) was cancelled") }
        if let error { return error }
        guard let service = candidates.services.last else {
            if let backendReason { return DiscoveryError(.backendUnavailable, backendReason) }
            return DiscoveryError(.notFound, "\(target.text) was not found within \(report.duration.rounded)")
        }
        let count = report.attempts.count
        if count == 0 {
            let reason = service.state == .unavailable ? "is not offered now (SRV port 0)" : "has no address"
            return DiscoveryError(.unreachable, "\(target.text) \(reason)")
        }
        let what = count == 1 ? "the address of \(target.text)" : "every one of \(count) addresses of \(target.text)"
        return report.isDeniedThroughout
            ? DiscoveryError(.notPermitted, "\(what) is denied by the address policy: \(report.summary)")
            : DiscoveryError(.unreachable, "\(what) failed: \(report.summary)")
    }
}

extension EstablishmentReport {
    /// The first few addresses, each with its reason.
    fileprivate var summary: String {
        let shown = attempts.prefix(4).map { "\($0.endpoint) (\($0.reason ?? $0.outcome.rawValue))" }
        return shown.joined(separator: ", ") + (attempts.count > shown.count ? ", …" : "")
    }
}

extension Duration {
    /// In seconds, to a tenth.
    fileprivate var rounded: String {
        let tenths = (components.seconds * 10 + components.attoseconds / 100_000_000_000_000_000)
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}
