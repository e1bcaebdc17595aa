import DNSSD
import DiscoveryPOSIX

/// The open queries of one kind: one engine operation for each question, however many listeners ask it.
///
/// A report from the engine is applied at once, under one lock, down to each subscriber's pending changes, so there is
/// no queue that could grow. Engines are called and tasks resumed only after the lock is released.
package final class QueryTable<Question: Hashable & Sendable, Facts: FactCatalog>: Sendable {
    package typealias Open = @Sendable (Question, @escaping @Sendable ([Facts.Fact]) -> Void) -> any EngineOperation
    package typealias Observe = @Sendable (Question, QueryNews<Facts.Value>) -> Void

    private struct Query {
        let id: UInt64
        let alarm: Alarm
        var catalog: Facts
        /// Nil until the engine has started it.
        var operation: (any EngineOperation)?
        var listeners: [UInt64: any Listener<Facts.Value>] = [:]
    }

    private struct State {
        var queries: [Question: Query] = [:]
        var lastID: UInt64 = 0
        var isClosed = false

        mutating func makeID() -> UInt64 {
            lastID += 1
            return lastID
        }
    }

    private let state = Locked(State())
    private let time: any TimeSource
    private let alarmClock: AlarmClock
    private let makeCatalog: @Sendable (Question) -> Facts
    private let open: Open
    private let observe: Observe?

    package init(
        time: any TimeSource,
        alarmClock: AlarmClock,
        makeCatalog: @escaping @Sendable (Question) -> Facts,
        open: @escaping Open,
        observe: Observe? = nil
    ) {
        (self.time, self.alarmClock, self.makeCatalog) = (time, alarmClock, makeCatalog)
        (self.open, self.observe) = (open, observe)
    }

    /// Subscribes `listener` to `question` until the membership ends.
    package func join(_ question: Question, _ listener: any Listener<Facts.Value>) -> Membership {
        let now = time.now
        let (member, opening, followUp) = state.withLock { state -> (UInt64, UInt64?, FollowUp?) in
            let member = state.makeID()
            guard !state.isClosed else { return (member, nil, listener.shutDown()) }
            let open = state.queries[question]
            var query = open ?? make(question, id: state.makeID())
            let welcome = query.catalog.welcome
            query.listeners[member] = listener
            state.queries[question] = query
            let followUp = welcome.isEmpty ? nil : listener.receive(welcome, now: now)
            return (member, open == nil ? query.id : nil, followUp)
        }
        followUp?()
        if let opening {
            observe?(question, .opened)
            start(question, id: opening)
        }
        // The strong reference is intended: an iterator alone keeps the network alive.
        return Membership { self.leave(question, member) }
    }

    /// Changes every query's catalog for a reason other than a fact.
    package func amendAll(_ body: (inout Facts, _ now: Duration) -> [Change<Facts.Value>]) {
        for question in state.withLock({ Array($0.queries.keys) }) {
            update(question, id: nil, body)
        }
    }

    /// Returns whether any query's catalog satisfies `predicate`. The lock is held while `predicate` runs.
    package func contains(_ predicate: (Facts) -> Bool) -> Bool {
        state.withLock { state in state.queries.values.contains { predicate($0.catalog) } }
    }

    /// Reads the catalog of a question, with the lock held; nil if no query is open for it.
    package func look<Result>(_ question: Question, _ body: (Facts) -> Result) -> Result? {
        state.withLock { $0.queries[question].map { body($0.catalog) } }
    }

    /// Ends every listener, because the engine was shut down.
    package func shutDown() {
        let (followUps, old) = state.withLock { state -> ([FollowUp], [Question: Query]) in
            state.isClosed = true
            let old = state.queries
            state.queries = [:]
            return (old.values.flatMap { $0.listeners.values.compactMap { $0.shutDown() } }, old)
        }
        // The alarms are released here, after the lock.
        withExtendedLifetime(old) { for followUp in followUps { followUp() } }
        if let observe { for question in old.keys { observe(question, .closed) } }
    }

    private func make(_ question: Question, id: UInt64) -> Query {
        let alarm = alarmClock.make { [weak self] _ in self?.update(question, id: id) { $0.tick(now: $1) } }
        return Query(id: id, alarm: alarm, catalog: makeCatalog(question))
    }

    private func start(_ question: Question, id: UInt64) {
        let operation = open(question) { [weak self] facts in
            self?.update(question, id: id) { $0.apply(facts, now: $1) }
        }
        let isWanted = state.withLock { state in
            // By now every listener may have left.
            guard state.queries[question]?.id == id else { return false }
            state.queries[question]?.operation = operation
            return true
        }
        if !isWanted { operation.cancel() }
    }

    private func leave(_ question: Question, _ member: UInt64) {
        let forgotten = state.withLock { state -> Query? in
            guard state.queries[question]?.listeners.removeValue(forKey: member) != nil,
                state.queries[question]?.listeners.isEmpty == true
            else { return nil }
            return state.queries.removeValue(forKey: question)
        }
        guard let forgotten else { return }
        forgotten.operation?.cancel()
        observe?(question, .closed)
    }

    private func update(
        _ question: Question,
        id: UInt64?,
        _ body: (inout Facts, _ now: Duration) -> [Change<Facts.Value>]
    ) {
        let followUps = state.withLock { state -> [FollowUp] in
            // The query may have been forgotten before its report or alarm came.
            guard let index = state.queries.index(forKey: question), id == nil || id == state.queries.values[index].id
            else { return [] }
            // Read under the lock, so that the catalog's time never goes back.
            let now = time.now
            let changes = body(&state.queries.values[index].catalog, now)
            let query = state.queries.values[index]
            query.alarm.set(to: query.catalog.nextDeadline)
            guard !changes.isEmpty else { return [] }
            let followUps = query.listeners.values.compactMap { $0.receive(changes, now: now) }
            guard let observe else { return followUps }
            return followUps + [{ observe(question, .changed(changes)) }]
        }
        for followUp in followUps { followUp() }
    }
}

/// What happens to a query, for an observer.
package enum QueryNews<Value: Listed>: Sendable {
    case opened
    case changed([Change<Value>])
    case closed
}

/// A listener's membership of a query; ends with the last reference to it.
package final class Membership: Sendable {
    private let end: Locked<(@Sendable () -> Void)?>

    package init(_ end: @escaping @Sendable () -> Void) { self.end = Locked(end) }

    deinit { leave() }

    /// Leaves the query; may be called more than once.
    package func leave() {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?()
    }
}

extension FactCatalog {
    /// The changes that bring who comes late up to date.
    package var welcome: [Change<Value>] {
        var changes: [Change<Value>] = []
        switch backend {
        case nil: break
        case .available, .recovered: changes.append(.backend(.available))
        case .lost(let reason): changes.append(.backend(.lost(reason)))
        case .unavailable(let reason): changes.append(.backend(.unavailable(reason)))
        }
        changes += snapshot.map { .found($0) }
        if isSettled { changes.append(.settled) }
        return changes
    }
}
