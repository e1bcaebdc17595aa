import DNSSD
import DiscoveryPOSIX

/// One call to connect: feeds the network's changes and the dialer's results to the race, and dials what that starts.
/// Everything it starts ends before `run` returns.
struct Connecting<D: Dialer>: Sendable {
    private enum Happening: Sendable {
        /// The network reported changes; nil if the task was cancelled.
        case changes([Change<DiscoveredService>]?)
        case failed(DiscoveryError)
        case dialled(Candidate, Result<D.Connection, DialFailure>)
        case woke(Duration)
    }
    private typealias Group = TaskGroup<Happening>

    let connector: Connector<D>
    private let seed = UInt64.random(in: .min ... .max)
    let target: ConnectTarget
    let family: IPAddress.Family?
    let time: any TimeSource
    let start: Duration
    let limits: RaceLimits
    private(set) var race: Race<Candidate>
    private(set) var candidates = Candidates()
    var log: EstablishmentLog
    /// The deadline for the first service to be found.
    private var patienceEnd: Duration
    private var isSettled = false
    private(set) var backendReason: String?
    private(set) var error: DiscoveryError?
    private var armed: [Duration] = []
    private(set) var connection: D.Connection?
    /// Connections that came too late; at most one an attempt.
    private var unwanted: [D.Connection] = []

    init(
        _ connector: Connector<D>,
        _ target: ConnectTarget,
        family: IPAddress.Family?,
        limits: RaceLimits,
        now: Duration
    ) {
        (self.connector, self.target, self.family, self.limits) = (connector, target, family, limits)
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
                dial(judge(now: start), in: &group)
                race.listCompleted(now: start)
            }
            while race.outcome == nil {
                arm(in: &group)
                guard let happening = await group.next() else { break }
                if case .changes(_?) = happening, let subscription { Self.listen(to: subscription, in: &group) }
                // Checked first: an attempt that ends because of the cancellation must not start the next one.
                if Task.isCancelled { race.cancelled() }
                dial(handle(happening), in: &group)
            }
            subscription?.end()
            group.cancelAll()
            // A loser may succeed before its cancellation reaches it.
            for await late in group {
                if case .dialled(_, .success(let connection)) = late { unwanted.append(connection) }
            }
            for connection in unwanted { await connector.dialer.close(connection) }
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

    /// Starts a timer for the next deadline unless one fires before it. Needless timers are left to fire: there are no
    /// more of them than attempts.
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

    /// - Returns: what to dial now.
    private mutating func handle(_ happening: Happening) -> Candidate? {
        let now = time.now
        switch happening {
        case .changes(let changes?):
            for change in changes { apply(change, now: now) }
            let next = judge(now: now)
            if isSettled, !candidates.services.isEmpty { race.listCompleted(now: now) }
            giveUpIfUnheard(now: now)
            return next
        case .changes(nil): race.cancelled()
        case .failed(let error):
            self.error = error
            race.listCompleted(now: now)
        case .woke(let deadline):
            armed.removeAll { $0 == deadline }
            let next = race.timePassed(now: now)
            giveUpIfUnheard(now: now)
            return next
        case .dialled(let candidate, .success(let connection)):
            race.succeeded(candidate)
            guard race.outcome == .won(candidate) else {
                unwanted.append(connection)
                return nil
            }
            self.connection = connection
            log.ended(candidate, .connected, now: now)
            connector.network.directory.history.withLock { $0.succeeded(candidate.endpoint, now: now) }
        case .dialled(let candidate, .failure(let failure)):
            log.ended(candidate, failure.outcome, reason: failure.reason, now: now)
            if failure.outcome == .refused || failure.outcome == .timeout { remember(candidate, now: now) }
            return race.failed(candidate, now: now)
        }
        return nil
    }

    private mutating func apply(_ change: Change<DiscoveredService>, now: Duration) {
        candidates.apply(change)
        switch change {
        case .settled: isSettled = true
        case .backend(.unavailable(let reason)), .backend(.lost(let reason)):
            backendReason = reason
            patienceEnd = min(patienceEnd, now + LocalNetwork.backendPatience)
        case .backend(.available), .backend(.recovered):
            // A service can be found only from now on.
            if backendReason != nil { patienceEnd = now + min(connector.patience, limits.overall) }
            backendReason = nil
        case .found, .changed, .lost, .degraded: break
        }
    }

    private mutating func giveUpIfUnheard(now: Duration) {
        if candidates.services.isEmpty, now >= patienceEnd { race.listCompleted(now: now) }
    }

    private mutating func judge(now: Duration) -> Candidate? {
        let history = connector.network.directory.history.withLock { $0 }
        var order = EndpointOrder(local: connector.localAddresses(), history: history)
        order.seed = seed
        let (permitted, denied) = candidates.judged(
            by: connector.policy, order, connector.routes(), family: family, now: now)
        for (candidate, refusal) in denied { log.denied(candidate, refusal) }
        if !permitted.isEmpty || !denied.isEmpty { log.learned(now: now) }
        return race.resolved(permitted, now: now)
    }

    /// When the race is over, `run` cancels the losers together and closes those that succeed.
    private mutating func dial(_ candidate: Candidate?, in group: inout Group) {
        guard let candidate else { return }
        log.started(candidate, now: time.now)
        group.addTask { [connector] in
            .dialled(candidate, await Self.dial(candidate, connector))
        }
    }

    private static func dial(
        _ candidate: Candidate,
        _ connector: Connector<D>
    ) async -> Result<D.Connection, DialFailure> {
        // Addresses and routes may have changed since the candidates were judged.
        if let refusal = candidate.refusal(
            by: connector.policy, connector.localAddresses(), connector.routes())
        {
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

    func remember(_ candidate: Candidate, now: Duration) {
        connector.network.directory.history.withLock { $0.failed(candidate.endpoint, now: now) }
    }
}

// The outcome of an attempt to connect, and its report.
extension Connecting {
    /// The service that was connected to.
    var winner: ServiceInstance? {
        if case .won(let candidate) = race.outcome { candidate.instance } else { nil }
    }

    /// Services whose addresses all refused, or gave no answer for at least a second.
    var unreachable: [ServiceInstance] {
        guard race.outcome == .failed || race.outcome == .timedOut else { return [] }
        let attempts = log.attempts.filter { $0.outcome != .denied }
        return candidates.services.filter { service in
            let own = attempts.filter { $0.instance == service.instance }
            let isDead = own.allSatisfy {
                $0.outcome == .refused || ($0.outcome == .timeout && $0.duration >= .seconds(1))
            }
            return !own.isEmpty && isDead && (isTried(service) || own.count >= limits.maximumAttempts)
        }.map(\.instance)
    }

    private func isTried(_ service: DiscoveredService) -> Bool {
        let tried = Set(log.attempts.filter { $0.instance == service.instance }.map(\.endpoint))
        return service.endpoints.allSatisfy { tried.contains($0) || (family != nil && $0.address.family != family) }
    }

    mutating func establishment() -> Establishment<D.Connection> {
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
            report.service = candidates.services.last ?? candidates.lost
        }
        if let connection { return Establishment(result: .success(connection), report: report) }
        return Establishment(result: .failure(failure(report)), report: report)
    }

    private func failure(_ report: EstablishmentReport) -> DiscoveryError {
        if race.outcome == .cancelled { return DiscoveryError(.closed, "connecting to \(target.text) was cancelled") }
        if let error { return error }
        guard let service = report.service else {
            if let backendReason { return DiscoveryError(.backendUnavailable, backendReason) }
            return DiscoveryError(.notFound, "\(target.text) was not found within \(report.duration.rounded)")
        }
        let count = report.attempts.count
        if count == 0 {
            if let reason = service.withheld { return DiscoveryError(.addressesWithheld, reason) }
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
    /// The first four addresses, each with its reason.
    fileprivate var summary: String {
        let shown = attempts.prefix(4).map { "\($0.endpoint) (\($0.reason ?? $0.outcome.rawValue))" }
        return shown.joined(separator: ", ") + (attempts.count > shown.count ? ", …" : "")
    }
}

extension Duration {
    /// The duration in seconds, to the nearest tenth.
    var rounded: String {
        let tenths =
            (components.seconds * 10 + (components.attoseconds + 50_000_000_000_000_000) / 100_000_000_000_000_000)
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}
