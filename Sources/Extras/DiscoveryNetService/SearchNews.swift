import DNSSD
import Discovery

/// What a search reports to the delegate.
enum Finding: Sendable {
    case found(ServiceInstance)
    case lost(ServiceInstance)
    case foundDomain(Domain)
    case lostDomain(Domain)
}

/// What an event means to a search.
enum SearchNews {
    case finding(Finding)
    case backend(BackendState)

    /// Nil for an event that means nothing to it.
    init?(_ event: ServiceEvent) {
        switch event {
        case .found(let service): self = .finding(.found(service.instance))
        case .lost(let service): self = .finding(.lost(service.instance))
        case .backend(let state): self = .backend(state)
        case .changed, .settled, .degraded: return nil
        }
    }

    /// Nil for an event that means nothing to it.
    init?(_ event: DomainEvent) {
        switch event {
        case .found(let domain): self = .finding(.foundDomain(domain))
        case .lost(let domain): self = .finding(.lostDomain(domain))
        case .backend(let state): self = .backend(state)
        case .settled, .degraded: return nil
        }
    }
}

extension SearchNews {
    /// How long to wait for a backend before a search fails.
    private static let patience = Duration.seconds(5)

    /// Follows a search until its end. Without a backend it fails after a while; a backend that goes later keeps what was found.
    /// - Parameter tell: gets everything new at one time, so that the last item is known.
    /// - Returns: why it ended; nil if the task was cancelled.
    static func follow<Event>(
        _ events: EventStream<Event>, time: any TimeSource, _ news: (Event) -> SearchNews?,
        _ tell: ([Finding]) async -> Void
    ) async -> DiscoveryError? {
        var iterator = events.makeAsyncIterator()
        var absence: (deadline: Duration, reason: String)?
        do throws(DiscoveryError) {
            while let batch = try await iterator.nextBatch(atMost: .max, until: absence?.deadline) {
                var findings: [Finding] = []
                for one in batch.compactMap(news) {
                    switch one {
                    case .finding(let finding): findings.append(finding)
                    case .backend(.unavailable(let reason)): absence = absence ?? (time.now + patience, reason)
                    case .backend(.available), .backend(.recovered): absence = nil
                    // Services may come back, so known ones are kept.
                    case .backend(.lost): break
                    }
                }
                if !findings.isEmpty {
                    await tell(findings)
                } else if let absence, absence.deadline <= time.now {
                    throw DiscoveryError(.backendUnavailable, absence.reason)
                }
            }
            return nil
        } catch {
            return error
        }
    }
}
