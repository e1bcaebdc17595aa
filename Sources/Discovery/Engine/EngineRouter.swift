public import DNSSD
import System

/// Several engines as one: a question goes to the first finder of its domain, a service to the first publisher of its domain.
///
/// A question has one domain, so no two engines ever answer the same one and nothing has to be merged; only the domains
/// themselves are asked of every finder.
public struct EngineRouter: ServiceFinder, ServicePublisher {
    private let finders: [any ServiceFinder]
    private let publishers: [any ServicePublisher]

    /// Creates a router, which then owns the engines: `shutdown` ends them. One that finds and publishes is given twice.
    public init(finders: [any ServiceFinder], publishers: [any ServicePublisher]) {
        self.finders = finders
        self.publishers = publishers
    }

    /// Whether any finder does.
    public func finds(in domain: Domain) -> Bool { finder(for: domain) != nil }

    /// Whether any publisher does.
    public func publishes(in domain: Domain) -> Bool { publisher(for: domain) != nil }

    /// Those of the domain's finder.
    public func limits(in domain: Domain) -> DiscoveryLimits {
        finder(for: domain)?.limits(in: domain) ?? DiscoveryLimits()
    }

    /// Tells the finder of its domain.
    public func couldNotReach(_ instance: ServiceInstance) {
        finder(for: instance.domain)?.couldNotReach(instance)
    }

    /// Asks the finder of its domain.
    public func obstacle(to instance: ServiceInstance) -> DiscoveryError? {
        finder(for: instance.domain)?.obstacle(to: instance)
    }

    /// Asks the finder of the query's domain.
    public func browse(
        _ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        finder(for: query.domain)?.browse(query, reporting: reporting)
            ?? UnservedOperation { reporting([.backend(.down(Self.unserved(query.domain)))]) }
    }

    /// Asks the finder of the query's domain.
    public func browseTypes(
        _ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation {
        finder(for: query.domain)?.browseTypes(query, reporting: reporting)
            ?? UnservedOperation { reporting([.backend(.down(Self.unserved(query.domain)))]) }
    }

    /// Asks every finder: the list is complete when each has listed its own, and the backend is up while any is.
    public func browseDomains(
        _ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation {
        merged(reporting) { finder, report in finder.browseDomains(query, reporting: report) }
    }

    /// Publishes with the publisher of the service's domain.
    public func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        let error = DiscoveryError(.misconfigured, Self.unpublished(service.domain))
        return publisher(for: service.domain)?
            .publish(service, onConflict: onConflict, isPersistent: isPersistent, reporting: reporting)
            ?? UnservedOperation { reporting(PublicationFact(name: service.name, state: .failed(error))) }
    }

    /// Up while every engine is; the reasons of those that are not otherwise.
    public func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        let states = Locked(JointState(count: roles.count))
        let operations = roles.enumerated().map { index, role in
            role.watchState { state in
                // Reported under the lock, so that no state overtakes another: a report returns quickly.
                states.withLock { states in
                    if let news = states.became(state, at: index) { reporting(news) }
                }
            }
        }
        return JointOperation(operations)
    }

    /// Those of all.
    public var troubles: [String] { roles.flatMap(\.troubles) }

    /// Ends all, side by side.
    @discardableResult
    public func shutdown() async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for role in roles { group.addTask { await role.shutdown() } }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    private func finder(for domain: Domain) -> (any ServiceFinder)? { finders.first { $0.finds(in: domain) } }

    private func publisher(for domain: Domain) -> (any ServicePublisher)? {
        publishers.first { $0.publishes(in: domain) }
    }

    /// Each engine once, though it may be a finder and a publisher.
    private var roles: [any EngineRole] {
        var known: Set<ObjectIdentifier> = []
        return (finders as [any EngineRole] + publishers).filter { role in
            guard type(of: role) is AnyClass else { return true }
            return known.insert(ObjectIdentifier(role as AnyObject)).inserted
        }
    }

    private static func unpublished(_ domain: Domain) -> String {
        "nothing publishes in \(domain): a domain needs an entry with a key under domains: in the configuration, or --key"
    }

    private static func unserved(_ domain: Domain) -> String { "no engine serves the domain \(domain)" }

    private func merged(
        _ reporting: @escaping @Sendable ([DomainFact]) -> Void,
        _ ask: (any ServiceFinder, @escaping @Sendable ([DomainFact]) -> Void) -> any EngineOperation
    ) -> any EngineOperation {
        let lists = Locked(JointList<Domain>(count: finders.count))
        return JointOperation(
            finders.enumerated().map { index, finder in
                ask(finder) { facts in
                    lists.withLock { lists in
                        let news = lists.received(facts, from: index)
                        if !news.isEmpty { reporting(news) }
                    }
                }
            })
    }
}

/// Several operations that begin and end as one.
private final class JointOperation: EngineOperation {
    private let operations: [any EngineOperation]

    init(_ operations: [any EngineOperation]) { self.operations = operations }

    func cancel() { for operation in operations { operation.cancel() } }

    func cancel(waitingAtMost limit: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for operation in operations { group.addTask { await operation.cancel(waitingAtMost: limit) } }
            return await group.reduce(true) { $0 && $1 }
        }
    }
}

/// An operation that no engine carries out; it reports that once.
private final class UnservedOperation: PublicationOperation {
    private let report: Locked<(@Sendable () -> Void)?>

    init(_ report: @escaping @Sendable () -> Void) {
        self.report = Locked(report)
        // Later, because a report must not come from within the call that starts an operation.
        Task { self.take()?() }
    }

    private func take() -> (@Sendable () -> Void)? {
        report.withLock { report in
            defer { report = nil }
            return report
        }
    }

    func cancel() { _ = take() }

    func cancel(waitingAtMost limit: Duration) async -> Bool {
        cancel()
        return true
    }
}
