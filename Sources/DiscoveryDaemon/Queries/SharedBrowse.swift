internal import DNSSD
internal import Discovery
internal import DiscoverySystem

/// A resolving operation of an engine, shared with members that want only the names it sees. When the last member that resolves
/// leaves, an operation for names alone takes its place.
final class SharedBrowse: Sendable {
    typealias Report = @Sendable ([BrowseFact]) -> Void
    typealias Open = @Sendable (ServiceQuery, @escaping Report) -> any EngineOperation

    private struct State {
        var seen = SeenNames()
        var members: [UInt64: Member] = [:]
        var lastID: UInt64 = 0
        var operation: (any EngineOperation)?
        /// The operation whose reports count; those of earlier ones are dropped.
        var generation = 0
        var isOver = false
    }

    /// One receiver: the facts waiting for it, and whether a thread is reporting them.
    private struct Member {
        let report: Report
        let resolves: Bool
        var waiting: [BrowseFact] = []
        var isBeingTold = false
    }

    private let query: ServiceQuery
    private let open: Open
    private let troubles: @Sendable () -> [String]
    private let whenClosed: @Sendable (SharedBrowse) -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - query: with resolving.
    ///   - troubles: what keeps the engine's answers from being complete now.
    ///   - whenClosed: called when no further member can join.
    init(
        _ query: ServiceQuery, open: @escaping Open, troubles: @escaping @Sendable () -> [String],
        whenClosed: @escaping @Sendable (SharedBrowse) -> Void
    ) {
        self.query = query
        self.open = open
        self.troubles = troubles
        self.whenClosed = whenClosed
    }

    /// Starts the operation for a member that wants all facts.
    func start(_ report: @escaping Report) -> any EngineOperation {
        let id = state.withLock { Self.add(Member(report: report, resolves: true), to: &$0) }
        begin(query, generation: 0)
        return Membership(of: self, id)
    }

    /// Adds a member that wants names only; known facts are reported later, in order.
    /// - Returns: nil when it is too late.
    func join(_ report: @escaping Report) -> (any EngineOperation)? {
        let troubles = troubles()
        let id = state.withLock { state -> UInt64? in
            guard state.generation == 0, !state.isOver else { return nil }
            var member = Member(report: report, resolves: false, isBeingTold: true)
            member.waiting = state.seen.summary(amid: troubles)
            return Self.add(member, to: &state)
        }
        guard let id else { return nil }
        // Not from within this call.
        Task { self.tell(id) }
        return Membership(of: self, id)
    }

    private static func add(_ member: Member, to state: inout State) -> UInt64 {
        state.lastID += 1
        state.members[state.lastID] = member
        return state.lastID
    }

    private func begin(_ query: ServiceQuery, generation: Int) {
        let operation = open(query) { [weak self] in self?.received($0, generation) }
        let isOver = state.withLock { state in
            if !state.isOver { state.operation = operation }
            return state.isOver
        }
        if isOver { operation.cancel() }
    }

    private func received(_ facts: [BrowseFact], _ generation: Int) {
        let troubles = facts.contains { if case .degraded = $0 { true } else { false } } ? troubles() : []
        let toTell = state.withLock { state -> [UInt64] in
            guard generation == state.generation else { return [] }
            let news = facts.flatMap { state.seen.took($0, amid: troubles) }
            let names = news.filter(\.isAboutNames)
            var toTell: [UInt64] = []
            for (id, member) in state.members where !(member.resolves ? news : names).isEmpty {
                state.members[id]?.waiting += member.resolves ? news : names
                state.members[id]?.isBeingTold = true
                if !member.isBeingTold { toTell.append(id) }
            }
            return toTell
        }
        for id in toTell { tell(id) }
    }

    /// Reports a member's waiting facts until none are left; one thread at a time.
    private func tell(_ id: UInt64) {
        while true {
            let next = state.withLock { state -> (Report, [BrowseFact])? in
                guard let member = state.members[id] else { return nil }
                state.members[id]?.waiting = []
                guard member.waiting.isEmpty else { return (member.report, member.waiting) }
                state.members[id]?.isBeingTold = false
                return nil
            }
            guard let (report, facts) = next else { return }
            report(facts)
        }
    }

    /// - Returns: the operation to end.
    private func leave(_ id: UInt64) -> (any EngineOperation)? {
        enum Next { case nothing, end, namesOnly(generation: Int) }
        let (next, operation) = state.withLock { state -> (Next, (any EngineOperation)?) in
            guard let member = state.members.removeValue(forKey: id) else { return (.nothing, nil) }
            guard !state.members.isEmpty else {
                state.isOver = true
                return (.end, state.operation)
            }
            guard member.resolves else { return (.nothing, nil) }
            state.generation += 1
            state.seen.doubtAll()
            return (.namesOnly(generation: state.generation), state.operation)
        }
        switch next {
        case .nothing: break
        case .end: whenClosed(self)
        case .namesOnly(let generation):
            whenClosed(self)
            var namesOnly = query
            namesOnly.resolution = .none
            begin(namesOnly, generation: generation)
        }
        return operation
    }

    /// A member's handle.
    private final class Membership: EngineOperation {
        private let browse: SharedBrowse
        private let id: UInt64

        init(of browse: SharedBrowse, _ id: UInt64) {
            self.browse = browse
            self.id = id
        }

        func cancel() { browse.leave(id)?.cancel() }

        func cancel(waitingAtMost limit: Duration) async -> Bool {
            await browse.leave(id)?.cancel(waitingAtMost: limit) ?? true
        }
    }
}

extension BrowseFact {
    /// Not about anything but a service's name.
    fileprivate var isAboutNames: Bool {
        switch self {
        case .resolved, .resolutionFailed: false
        case .appeared, .disappeared, .withdrawn, .hidden, .listed, .backend, .degraded: true
        }
    }
}
