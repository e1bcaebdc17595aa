import DNSMessage
package import DNSSD
package import Discovery
import DiscoverySystem
import Records

/// Finds the services of every domain except `local`, by asking DNS servers again and again (RFC 6763).
package final class UnicastFinder: ServiceFinder {
    private struct State {
        var lastID: UInt64 = 0
        /// Nil once the finder has ended.
        var queries: [UInt64: any FinderQuery]? = [:]
    }

    private let directory: ServerDirectory
    private let time: any TimeSource
    private let alarmClock: AlarmClock
    private let own: OwnServices?
    private let surroundings: @Sendable () -> Surroundings
    /// Whether the last question was answered; up while there are no queries.
    private let health = StateWatchers(.up, tellsReasons: false)
    private let state = Locked(State())

    /// Creates a finder.
    /// - Parameters:
    ///   - domains: the servers of some domains; the host's resolver is asked about others.
    ///   - exchange: carries the questions.
    ///   - time: the clock.
    ///   - own: tells the services of this machine; nil: there are none.
    ///   - surroundings: returns where this host is; called for each query for domains.
    package init(
        domains: [DomainSettings], exchange: any DNSExchange, time: any TimeSource = SystemTime(),
        own: OwnServices? = nil, surroundings: @escaping @Sendable () -> Surroundings
    ) {
        directory = ServerDirectory(domains, exchange: exchange)
        (self.time, self.own) = (time, own)
        alarmClock = AlarmClock(time: time)
        self.surroundings = surroundings
    }

    /// Returns true for every domain except those within `local`, which no DNS server serves (RFC 6762 §3).
    package func finds(in domain: Domain) -> Bool { !domain.isWithin(.local) }

    /// Reports whether servers answer.
    package func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        health.watch(reporting)
    }

    /// Asks for services. The query's interfaces are ignored, because a server is on no link.
    package func browse(
        _ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        start(ServerBrowse(query, own: own), reporting)
    }

    /// Asks for the types of services (RFC 6763 §9).
    package func browseTypes(
        _ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation {
        let domain = query.domain
        let name = DomainName(["_services", "_dns-sd", "_udp"], in: domain)
        return start(
            ServerBrowse(
                ListGraph(name.map { [$0] } ?? [], at: .unicast) { listed in
                    ServiceType(listed: listed, in: domain).map { TypeKey(type: $0, domain: domain) }
                }), reporting)
    }

    /// Asks for the domains that are recommended where this host is, or by the domains that are named (RFC 6763 §11). They
    /// are only reported, not browsed.
    package func browseDomains(
        _ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation {
        let names =
            query.recommenders.isEmpty
            ? surroundings().names(for: query.purpose)
            : Surroundings(searchDomains: query.recommenders, networks: []).names(for: query.purpose)
        return start(
            ServerBrowse(
                ListGraph(names, at: .unicast) { listed in
                    Domain(labels: listed.labels).flatMap { $0 == .local ? nil : $0 }
                }), reporting)
    }

    /// Asks again for the records of a service that could not be reached.
    package func couldNotReach(_ instance: ServiceInstance) {
        for query in state.withLock({ Array(($0.queries ?? [:]).values) }) { query.verify(instance) }
    }

    /// The current reasons why answers may be incomplete, each once.
    package var troubles: [String] {
        let queries = state.withLock { ($0.queries ?? [:]).sorted { $0.key < $1.key }.map(\.value) }
        var known: Set<String> = []
        return queries.flatMap(\.troubles).filter { known.insert($0).inserted }
    }

    /// Ends all queries.
    @discardableResult
    package func shutdown() async -> Bool {
        let queries = state.withLock { state in
            defer { state.queries = nil }
            return state.queries ?? [:]
        }
        for query in queries.values { query.end() }
        return true
    }

    /// The number of queries, for tests that look for leaks.
    package var openObjects: Int { state.withLock { $0.queries?.count ?? 0 } }

    private func start<Graph: ServerGraph>(
        _ rules: ServerBrowse<Graph>, _ reporting: @escaping @Sendable ([Graph.Fact]) -> Void
    ) -> any EngineOperation {
        let operation = FinderOperation(
            rules, time: time,
            ask: { [directory, health] question in
                let (reading, failure) = await directory.ask(question)
                if case .silent(let reason) = failure, !Task.isCancelled { health.became(.down(reason)) }
                if failure == nil { health.became(.up) }
                return reading
            },
            report: reporting)
        let id = state.withLock { state -> UInt64? in
            guard state.queries != nil else { return nil }
            state.lastID += 1
            state.queries?[state.lastID] = operation
            return state.lastID
        }
        guard let id else { return Ending {} }
        operation.start(alarmClock)
        // The handle keeps the finder alive.
        return Ending { [self] in end(id) }
    }

    private func end(_ id: UInt64) {
        let (query, isIdle) = state.withLock { ($0.queries?.removeValue(forKey: id), $0.queries?.isEmpty ?? true) }
        query?.end()
        if isIdle { health.became(.up) }
    }
}
