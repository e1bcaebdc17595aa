import DNSSD
import DiscoveryPOSIX

/// Follows the services of every type: one query for the types, and one for each type found.
final class AllServices: Listener {
    private struct State {
        var types = FollowedTypes()
        var memberships: [ServiceQuery: Membership] = [:]
        /// Types whose query has not settled.
        var unsettled: Set<ServiceQuery> = []
        var areTypesListed = false
        var isSettled = false
        var hasLeft = false
        var watch = BackendWatch()
        var notices: Notices

        /// What to tell when one of the queries reports the backend.
        mutating func became(_ new: BackendState) -> [Change<DiscoveredService>] {
            guard let told = watch.became(new) else { return [] }
            // Reports again what is still omitted.
            if told == .recovered { notices.renew() }
            return [.backend(told)]
        }
    }

    private let directory: Directory
    private let listener: any Listener<DiscoveredService>
    private let types: TypeQuery
    private let resolution: ServiceQuery.Resolution
    private let state: Locked<State>

    static func subscribe(
        _ directory: Directory, types: TypeQuery, resolution: ServiceQuery.Resolution
    ) -> Subscription<DiscoveredService> {
        let subscriber: Subscriber<DiscoveredService> = directory.makeSubscriber()
        let membership = join(directory, types: types, resolution: resolution, subscriber)
        return Subscription(subscriber: subscriber, membership: membership)
    }

    /// Has a listener follow all, until the membership ends.
    static func join(
        _ directory: Directory, types: TypeQuery, resolution: ServiceQuery.Resolution,
        _ listener: any Listener<DiscoveredService>
    ) -> Membership {
        let all = AllServices(directory, types, resolution, listener)
        let membership = directory.types.join(types, all)
        return Membership {
            membership.leave()
            all.leave()
        }
    }

    private init(
        _ directory: Directory,
        _ types: TypeQuery,
        _ resolution: ServiceQuery.Resolution,
        _ listener: any Listener<DiscoveredService>
    ) {
        (self.directory, self.types, self.resolution, self.listener) = (directory, types, resolution, listener)
        state = Locked(State(notices: Notices(interval: directory.limits(types.domain).noticeInterval)))
    }

    func receive(_ changes: [Change<TypeCatalog.Value>], now: Duration) -> FollowUp? {
        let limit = directory.limits(types.domain).types
        let (wanted, left, news) = state.withLock {
            state -> ([ServiceQuery], [Membership], [Change<DiscoveredService>]) in
            var wanted: [ServiceQuery] = []
            var left: [Membership] = []
            var news: [Change<DiscoveredService>] = []
            for change in changes {
                switch change {
                case .found(let listing), .changed(let listing):
                    let query = query(for: listing.key)
                    switch state.types.found(listing.key, query, limit: limit) {
                    case .known: break
                    case .leftOut:
                        let text = "more than \(limit) service types: further ones are left out"
                        if state.notices.shouldTell("types", now: now) { news.append(.degraded(text)) }
                    case .new(let closed):
                        if let closed {
                            state.unsettled.remove(closed)
                            wanted.removeAll { $0 == closed }
                            if let membership = state.memberships.removeValue(forKey: closed) {
                                left.append(membership)
                            }
                        }
                        if !state.areTypesListed { state.unsettled.insert(query) }
                        wanted.append(query)
                    }
                // The type's own query reports the lost services; the type may come back.
                case .lost(let listing): state.types.lost(listing.key, query(for: listing.key))
                case .settled: state.areTypesListed = true
                case .backend(let new):
                    // Types are listed again, and each type's own query lists its services again.
                    if new.isRestart { (state.areTypesListed, state.isSettled) = (false, false) }
                    news += state.became(new)
                case .degraded(let text): news.append(.degraded(text))
                }
            }
            return (wanted, left, news + Self.settle(&state))
        }
        let wake = news.isEmpty ? nil : listener.receive(news, now: now)
        guard !wanted.isEmpty else { return wake }
        return {
            for membership in left { membership.leave() }
            for query in wanted { self.join(query) }
            wake?()
        }
    }

    func shutDown() -> FollowUp? { listener.shutDown() }

    private func query(for key: TypeKey) -> ServiceQuery {
        ServiceQuery(
            .type(key.type.base, key.domain), interfaces: types.interfaces, family: types.family,
            resolution: resolution)
    }

    private func join(_ query: ServiceQuery) {
        let membership = directory.services.join(query, OneType(query, self))
        let isKept = state.withLock { state in
            guard !state.hasLeft, state.types.contains(query) else { return false }
            state.memberships[query] = membership
            return true
        }
        if !isKept { membership.leave() }
    }

    private func leave() {
        let memberships = state.withLock { state in
            state.hasLeft = true
            defer { state.memberships = [:] }
            return Array(state.memberships.values)
        }
        for membership in memberships { membership.leave() }
    }

    fileprivate func receive(
        _ changes: [Change<DiscoveredService>],
        of query: ServiceQuery,
        now: Duration
    ) -> FollowUp? {
        let news = state.withLock { state -> [Change<DiscoveredService>] in
            var news: [Change<DiscoveredService>] = []
            // A query that gave way to another one may report once more.
            guard state.types.contains(query) else { return [] }
            for change in changes {
                switch change {
                case .found:
                    state.types.services(of: query, changedBy: 1)
                    news.append(change)
                case .lost:
                    state.types.services(of: query, changedBy: -1)
                    news.append(change)
                case .changed: news.append(change)
                case .settled: break
                case .backend(let new):
                    if new.isRestart {
                        state.unsettled.insert(query)
                        state.isSettled = false
                    }
                    news += state.became(new)
                case .degraded(let text): if state.notices.shouldTell(text, now: now) { news.append(change) }
                }
            }
            return news
        }
        let first = news.isEmpty ? nil : listener.receive(news, now: now)
        // The listener must have this type's changes first: `settled` comes last.
        let settled = state.withLock { state in
            if changes.contains(.settled) { state.unsettled.remove(query) }
            return Self.settle(&state)
        }
        let second = settled.isEmpty ? nil : listener.receive(settled, now: now)
        guard first != nil || second != nil else { return nil }
        return {
            first?()
            second?()
        }
    }

    private static func settle(_ state: inout State) -> [Change<DiscoveredService>] {
        guard state.areTypesListed, !state.isSettled, state.unsettled.isEmpty else { return [] }
        state.isSettled = true
        return [.settled]
    }
}

extension BackendState {
    /// Whether everything is listed again before it is known. Already when the backend is lost, because queries learn
    /// one after another that it is back.
    fileprivate var isRestart: Bool {
        switch self {
        case .lost, .recovered: true
        case .available, .unavailable: false
        }
    }
}

/// Passes one type's changes on to `AllServices`, with the query they belong to.
private final class OneType: Listener {
    private let query: ServiceQuery
    private let all: AllServices

    init(_ query: ServiceQuery, _ all: AllServices) {
        self.query = query
        self.all = all
    }

    func receive(_ changes: [Change<DiscoveredService>], now: Duration) -> FollowUp? {
        all.receive(changes, of: query, now: now)
    }

    func shutDown() -> FollowUp? { all.shutDown() }
}

/// Receives a query's changes.
package protocol Listener<Value>: AnyObject, Sendable {
    associatedtype Value: Listed

    /// Takes changes in. Called with the query's lock held, so that changes stay in order.
    /// - Returns: work for after the lock is released, such as resuming waiters or joining other queries.
    func receive(_ changes: [Change<Value>], now: Duration) -> FollowUp?

    /// The engine was shut down; no further changes come.
    /// - Returns: as `receive`.
    func shutDown() -> FollowUp?
}

/// Work to do once no lock is held.
package typealias FollowUp = @Sendable () -> Void

/// The service types whose services are followed, up to a limit. A type that is gone, and all its services with it,
/// gives way to a new one.
struct FollowedTypes {
    /// What becomes of a type.
    enum Outcome: Equatable {
        /// It is followed already.
        case known
        /// Its query must be opened, and that of a type that is gone closed.
        case new(closes: ServiceQuery?)
        /// There is no room.
        case leftOut
    }

    private struct Entry {
        /// The names under which it is listed: a type with subtypes has one query.
        var names: Set<TypeKey>
        var services = 0

        var isGone: Bool { names.isEmpty && services == 0 }
    }

    private var entries: [ServiceQuery: Entry] = [:]

    func contains(_ query: ServiceQuery) -> Bool { entries[query] != nil }

    mutating func found(_ name: TypeKey, _ query: ServiceQuery, limit: Int) -> Outcome {
        if entries[query]?.names.insert(name) != nil { return .known }
        var gone: ServiceQuery?
        if entries.count >= limit {
            gone = entries.first { $0.value.isGone }?.key
            guard let gone else { return .leftOut }
            entries[gone] = nil
        }
        entries[query] = Entry(names: [name])
        return .new(closes: gone)
    }

    mutating func lost(_ name: TypeKey, _ query: ServiceQuery) { entries[query]?.names.remove(name) }

    /// A service of a type was found (1) or lost (-1).
    mutating func services(of query: ServiceQuery, changedBy count: Int) { entries[query]?.services += count }
}
