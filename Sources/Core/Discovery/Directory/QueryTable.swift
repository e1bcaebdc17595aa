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
        var state: QueryState<Facts>
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
            var query = state.queries[question] ?? make(question, id: state.makeID())
            let (action, welcome) = query.state.joined(member)
            query.listeners[member] = listener
            state.queries[question] = query
            let followUp = welcome.isEmpty ? nil : listener.receive(welcome, now: now)
            if case .open = action { return (member, query.id, followUp) }
            return (member, nil, followUp)
        }
        followUp?()
        if let opening {
            observe?(question, .opened)
            start(question, id: opening)
        }
        // The strong reference is intended: an iterator alone keeps the network alive.
        return Membership { self.leave(question, member) }
    }

    /// Applies deadlines that have passed, for a caller that comes before the alarm.
    package func tick(_ question: Question) {
        update(question, id: nil) { $0.tick(now: $1) }
    }

    /// Changes every query's catalog for a reason other than a fact.
    package func amendAll(_ body: (inout Facts, _ now: Duration) -> [Change<Facts.Value>]) {
        for question in state.withLock({ Array($0.queries.keys) }) {
            update(question, id: nil) { state, now in state.amend { body(&$0, now) } }
        }
    }

    /// Returns whether any query's catalog satisfies `predicate`. The lock is held while `predicate` runs.
    package func contains(_ predicate: (Facts) -> Bool) -> Bool {
        state.withLock { state in state.queries.values.contains { predicate($0.state.catalog) } }
    }

    /// Reads the catalog of a question, with the lock held; nil if no query is open for it.
    package func look<Result>(_ question: Question, _ body: (Facts) -> Result) -> Result? {
        state.withLock { $0.queries[question].map { body($0.state.catalog) } }
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
        return Query(id: id, alarm: alarm, state: QueryState(makeCatalog(question)))
    }

    private func start(_ question: Question, id: UInt64) {
        let operation = open(question) { [weak self] facts in
            self?.update(question, id: id) { $0.reported(facts, now: $1) }
        }
        let action = state.withLock { state -> QueryState<Facts>.Action in
            guard state.queries[question]?.id == id else { return .close(operation) }
            return state.queries[question]?.state.opened(operation) ?? .close(operation)
        }
        if case .close(let operation) = action { operation.cancel() }
    }

    private func leave(_ question: Question, _ member: UInt64) {
        let (action, forgotten) = state.withLock { state -> (QueryState<Facts>.Action, Query?) in
            guard state.queries[question]?.listeners.removeValue(forKey: member) != nil else { return (.nothing, nil) }
            let action = state.queries[question]?.state.left(member) ?? .nothing
            guard state.queries[question]?.state.isUnused == true else { return (action, nil) }
            return (action, state.queries.removeValue(forKey: question))
        }
        if case .close(let operation) = action { operation.cancel() }
        if forgotten != nil { observe?(question, .closed) }
    }

    private func update(
        _ question: Question,
        id: UInt64?,
        _ body: (inout QueryState<Facts>, _ now: Duration) -> [Change<Facts.Value>]
    ) {
        let followUps = state.withLock { state -> [FollowUp] in
            // The query may have been forgotten before its report or alarm came.
            guard let index = state.queries.index(forKey: question), id == nil || id == state.queries.values[index].id
            else { return [] }
            // Read under the lock, so that the catalog's time never goes back.
            let now = time.now
            let changes = body(&state.queries.values[index].state, now)
            let query = state.queries.values[index]
            query.alarm.set(to: query.state.catalog.nextDeadline)
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

/// One question that several subscribers ask: its catalog, its members, and the engine's operation.
package struct QueryState<Facts: FactCatalog>: Sendable {
    /// What the table must do after a member joined or left, or after the operation started.
    package enum Action: Sendable {
        case nothing
        /// Start the engine's operation.
        case open
        /// Cancel the operation.
        case close(any EngineOperation)
    }

    package private(set) var catalog: Facts
    private var members: Set<UInt64> = []
    private var operation: (any EngineOperation)?
    private var isOpen = false

    package init(_ catalog: Facts) { self.catalog = catalog }

    /// Whether its last member has left: it must be forgotten, not joined again.
    package var isUnused: Bool { isOpen && members.isEmpty }

    /// Adds a member.
    /// - Returns: what to do, and the changes that bring the new member up to date.
    package mutating func joined(_ member: UInt64) -> (action: Action, welcome: [Change<Facts.Value>]) {
        members.insert(member)
        defer { isOpen = true }
        return (isOpen ? .nothing : .open, welcome)
    }

    package mutating func left(_ member: UInt64) -> Action {
        members.remove(member)
        guard members.isEmpty, let operation else { return .nothing }
        self.operation = nil
        return .close(operation)
    }

    /// The engine started the operation; by now every member may have left.
    package mutating func opened(_ operation: any EngineOperation) -> Action {
        guard !members.isEmpty else { return .close(operation) }
        self.operation = operation
        return .nothing
    }

    package mutating func reported(_ facts: [Facts.Fact], now: Duration) -> [Change<Facts.Value>] {
        catalog.apply(facts, now: now)
    }

    package mutating func tick(now: Duration) -> [Change<Facts.Value>] { catalog.tick(now: now) }

    /// Changes the catalog for a reason other than a fact.
    package mutating func amend(_ body: (inout Facts) -> [Change<Facts.Value>]) -> [Change<Facts.Value>] {
        body(&catalog)
    }

    private var welcome: [Change<Facts.Value>] {
        var changes: [Change<Facts.Value>] = []
        switch catalog.backend {
        case nil: break
        case .available, .recovered: changes.append(.backend(.available))
        case .lost(let reason): changes.append(.backend(.lost(reason)))
        case .unavailable(let reason): changes.append(.backend(.unavailable(reason)))
        }
        changes += catalog.snapshot.map { .found($0) }
        if catalog.isSettled { changes.append(.settled) }
        return changes
    }
}
