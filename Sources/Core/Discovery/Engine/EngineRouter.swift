public import DNSSD
import DiscoveryPOSIX

/// Several engines as one: sends a question to the first finder of its domain, and a service to the first publisher of
/// its domain.
///
/// A question has one domain, so only one engine answers it and there is nothing to merge. The exception is the
/// question for domains, which goes to every finder.
public struct EngineRouter: ServiceFinder, ServicePublisher {
    private let finders: [any ServiceFinder]
    private let publishers: [any ServicePublisher]

    /// Creates a router, which then owns the engines: `shutdown` ends them.
    /// - Parameters:
    ///   - finders: the first one that finds in a domain is asked.
    ///   - publishers: the first one that publishes in a domain is used. An engine may be in both lists.
    public init(finders: [any ServiceFinder], publishers: [any ServicePublisher]) {
        self.finders = finders
        self.publishers = publishers
    }

    /// Returns whether any finder finds in the domain.
    public func finds(in domain: Domain) -> Bool { finder(for: domain) != nil }

    /// Returns whether any publisher publishes in the domain.
    public func publishes(in domain: Domain) -> Bool { publisher(for: domain) != nil }

    /// Returns the limits of the domain's finder, or the defaults if there is none.
    public func limits(in domain: Domain) -> DiscoveryLimits {
        finder(for: domain)?.limits(in: domain) ?? DiscoveryLimits()
    }

    /// Reports the service to the finder of its domain.
    public func couldNotReach(_ instance: ServiceInstance) {
        finder(for: instance.domain)?.couldNotReach(instance)
    }

    /// Starts the query with the finder of its domain; without one, reports that the backend is down.
    public func browse(
        _ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        finder(for: query.domain)?.browse(query, reporting: reporting)
            ?? SingleReport { reporting([.backend(.down(Self.unserved(query.domain)))]) }
    }

    /// Starts the query with the finder of its domain; without one, reports that the backend is down.
    public func browseTypes(
        _ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation {
        finder(for: query.domain)?.browseTypes(query, reporting: reporting)
            ?? SingleReport { reporting([.backend(.down(Self.unserved(query.domain)))]) }
    }

    /// Starts the query with every finder, or with those of the recommenders that are named. The list is complete once
    /// each finder that is up has listed its own domains; the backend is up while any finder is.
    public func browseDomains(
        _ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation {
        let parts = parts(of: query)
        guard !parts.isEmpty else {
            let reason = query.recommenders.first.map(Self.unserved) ?? "nothing finds here"
            return SingleReport { reporting([.backend(.down(reason))]) }
        }
        let lists = Locked(JointList<Domain>(count: parts.count))
        return Ending(
            parts.enumerated().map { index, part in
                part.finder.browseDomains(part.query) { facts in
                    lists.withLock { lists in
                        let news = lists.received(facts, from: index)
                        if !news.isEmpty { reporting(news) }
                    }
                }
            })
    }

    /// Returns the finders to ask, each with its part of the query.
    private func parts(of query: DomainQuery) -> [(finder: any ServiceFinder, query: DomainQuery)] {
        guard !query.recommenders.isEmpty else { return finders.map { ($0, query) } }
        let owners = query.recommenders.map { domain in finders.firstIndex { $0.finds(in: domain) } }
        return finders.enumerated().compactMap { index, finder in
            var part = query
            part.recommenders = zip(query.recommenders, owners).filter { $0.1 == index }.map(\.0)
            return part.recommenders.isEmpty ? nil : (finder, part)
        }
    }

    /// Publishes with the publisher of the service's domain; without one, reports `.failed`.
    public func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        let error = DiscoveryError(.misconfigured, Self.unpublished(service.domain))
        return publisher(for: service.domain)?
            .publish(service, onConflict: onConflict, isPersistent: isPersistent, reporting: reporting)
            ?? SingleReport { reporting(PublicationFact(name: service.name, state: .failed(error))) }
    }

    /// Follows the engines: the state is up while every engine is, otherwise it gives the reasons of those that are
    /// not.
    public func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        let states = Locked(JointState(count: roles.count))
        let operations = roles.enumerated().map { index, role in
            role.watchState { state in
                // Reporting under the lock keeps the states in order; reports return quickly.
                states.withLock { states in
                    if let news = states.became(state, at: index) { reporting(news) }
                }
            }
        }
        return Ending(operations)
    }

    /// The troubles of all engines.
    public var troubles: [String] { roles.flatMap(\.troubles) }

    /// Ends all engines: those that publish, side by side, then the others.
    /// - Returns: whether every backend took note in time.
    @discardableResult
    public func shutdown() async -> Bool {
        // Goodbyes may go through an engine that is here only as a finder.
        let publishing = Self.distinct(publishers)
        let isNoted = await Self.shutDown(publishing)
        return await Self.shutDown(Array(roles.dropFirst(publishing.count))) && isNoted
    }

    private static func shutDown(_ roles: [any EngineRole]) async -> Bool {
        await roles.allSucceed { await $0.shutdown() }
    }

    private func finder(for domain: Domain) -> (any ServiceFinder)? { finders.first { $0.finds(in: domain) } }

    private func publisher(for domain: Domain) -> (any ServicePublisher)? {
        publishers.first { $0.publishes(in: domain) }
    }

    /// Each engine once, even if it is a finder and a publisher; those that publish first.
    private var roles: [any EngineRole] { Self.distinct(publishers as [any EngineRole] + finders) }

    private static func distinct(_ roles: [any EngineRole]) -> [any EngineRole] {
        var known: Set<ObjectIdentifier> = []
        return roles.filter { role in
            guard type(of: role) is AnyClass else { return true }
            return known.insert(ObjectIdentifier(role as AnyObject)).inserted
        }
    }

    private static func unpublished(_ domain: Domain) -> String {
        "nothing publishes in \(domain): a domain needs an entry with a key under domains: in the configuration, or --key"
    }

    private static func unserved(_ domain: Domain) -> String { "nothing asks about the domain \(domain)" }
}

extension Sequence where Element: Sendable {
    /// Does something for all elements at the same time.
    /// - Returns: whether it returned true for each.
    package func allSucceed(_ body: @escaping @Sendable (Element) async -> Bool) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for element in self { group.addTask { await body(element) } }
            return await group.reduce(true) { $0 && $1 }
        }
    }
}

/// An operation whose owner carries out what is called. It holds what these calls hold.
package final class Ending: PublicationOperation {
    private let end: @Sendable () -> Void
    private let quietly: (@Sendable () -> Void)?
    private let waiting: (@Sendable (Duration) async -> Bool)?
    private let change: (@Sendable (Port?, TXTRecord) -> Void)?

    /// - Parameters:
    ///   - end: ends it.
    ///   - quietly: ends it without goodbyes; nil where none are said.
    ///   - waiting: ends it and waits, as `cancel(waitingAtMost:)`; nil where it ends at once.
    ///   - change: announces another TXT record, and another port; nil where nothing can be changed.
    package init(
        _ end: @escaping @Sendable () -> Void, quietly: (@Sendable () -> Void)? = nil,
        waiting: (@Sendable (Duration) async -> Bool)? = nil, change: (@Sendable (Port?, TXTRecord) -> Void)? = nil
    ) {
        (self.end, self.quietly, self.waiting, self.change) = (end, quietly, waiting, change)
    }

    package func cancel() { end() }

    /// Ends a publication that another responder of this machine takes over: without goodbyes. Returns at once.
    package func cancelQuietly() { (quietly ?? end)() }

    package func cancel(waitingAtMost limit: Duration) async -> Bool {
        if let waiting { return await waiting(limit) }
        end()
        return true
    }

    package func update(txt: TXTRecord) -> Bool { update(nil, txt) }

    package func update(port: Port, txt: TXTRecord) -> Bool { update(port, txt) }

    private func update(_ port: Port?, _ txt: TXTRecord) -> Bool {
        change?(port, txt)
        return change != nil
    }
}

extension Ending {
    /// Several operations as one.
    convenience init(_ operations: [any EngineOperation]) {
        self.init(
            { for operation in operations { operation.cancel() } },
            waiting: { limit in await operations.allSucceed { await $0.cancel(waitingAtMost: limit) } })
    }
}

/// An operation that reports once and does nothing else, as one that no engine carries out.
package final class SingleReport: PublicationOperation {
    private let report: Locked<(@Sendable () -> Void)?>

    package init(_ report: @escaping @Sendable () -> Void) {
        self.report = Locked(report)
        // A report must not come from within the call that starts the operation.
        Task { self.take()?() }
    }

    private func take() -> (@Sendable () -> Void)? {
        report.withLock { report in
            defer { report = nil }
            return report
        }
    }

    package func cancel() { _ = take() }

    package func cancel(waitingAtMost limit: Duration) async -> Bool {
        cancel()
        return true
    }
}
