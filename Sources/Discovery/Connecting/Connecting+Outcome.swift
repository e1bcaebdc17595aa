import DNSSD

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
    /// The duration in seconds, cut to tenths.
    fileprivate var rounded: String {
        let tenths = (components.seconds * 10 + components.attoseconds / 100_000_000_000_000_000)
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}
