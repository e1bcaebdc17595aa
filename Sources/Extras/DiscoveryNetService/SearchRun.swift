import DNSSD
import Discovery

/// What a search reports to the delegate.
enum Finding: Sendable {
    case found(ServiceInstance)
    case lost(ServiceInstance)
    case foundDomain(Domain)
    case lostDomain(Domain)
}

/// An item from one of the library's iterators, as a search sees it.
enum SearchNews {
    case finding(Finding)
    case backend(BackendState)
    case nothing
}

/// The source of a search's news.
protocol SearchSource: SendableMetatype {
    /// Waits for news and returns everything available; empty if the deadline passes, nil if the task is cancelled.
    mutating func next(until deadline: Duration?) async throws(DiscoveryError) -> [SearchNews]?
}

/// A running search: reports findings in batches, and fails if a backend never appears.
struct SearchRun<Source: SearchSource> {
    /// How long to wait for a backend before the search fails.
    private let patience = Duration.seconds(5)
    private var source: Source
    private let time: any TimeSource
    private var absence: (deadline: Duration, reason: String)?

    init(_ source: Source, time: any TimeSource) {
        self.source = source
        self.time = time
    }

    /// Follows a source until its end; the search is over when this returns.
    /// - Returns: why it ended; nil if the task was cancelled.
    static func follow(
        _ makeSource: () -> Source, time: any TimeSource, _ tell: ([Finding]) async -> Void
    ) async -> DiscoveryError? {
        var run = SearchRun(makeSource(), time: time)
        do throws(DiscoveryError) {
            while let findings = try await run.next() { await tell(findings) }
            return nil
        } catch {
            return error
        }
    }

    /// Everything new at one time, so that the last item is known; nil if the task is cancelled.
    /// - Throws: `.backendUnavailable`, `.closed`.
    mutating func next() async throws(DiscoveryError) -> [Finding]? {
        while let news = try await source.next(until: absence?.deadline) {
            var findings: [Finding] = []
            for one in news {
                switch one {
                case .finding(let finding): findings.append(finding)
                case .backend(.unavailable(let reason)):
                    absence = absence ?? (time.now + patience, reason)
                case .backend(.available), .backend(.recovered): absence = nil
                // Services may come back, so known ones are kept.
                case .backend(.lost), .nothing: break
                }
            }
            if !findings.isEmpty { return findings }
            if let absence, absence.deadline <= time.now { throw DiscoveryError(.backendUnavailable, absence.reason) }
        }
        return nil
    }
}

/// Searches for services of a type, by name.
struct BrowseSource: SearchSource {
    var iterator: ServiceEvents.AsyncIterator

    mutating func next(until deadline: Duration?) async throws(DiscoveryError) -> [SearchNews]? {
        try await iterator.nextBatch(atMost: .max, until: deadline)?.map { event in
            switch event {
            case .found(let service): .finding(.found(service.instance))
            case .lost(let service): .finding(.lost(service.instance))
            case .backend(let state): .backend(state)
            case .changed, .settled, .degraded: .nothing
            }
        }
    }
}

/// Searches for domains.
struct DomainSource: SearchSource {
    var iterator: DomainEvents.AsyncIterator

    mutating func next(until deadline: Duration?) async throws(DiscoveryError) -> [SearchNews]? {
        try await iterator.nextBatch(atMost: .max, until: deadline)?.map { event in
            switch event {
            case .found(let domain): .finding(.foundDomain(domain))
            case .lost(let domain): .finding(.lostDomain(domain))
            case .backend(let state): .backend(state)
            case .settled, .degraded: .nothing
            }
        }
    }
}
