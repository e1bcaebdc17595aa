import DNSSD

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
        facts.flatMap { catalog.apply($0, now: now) }
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
