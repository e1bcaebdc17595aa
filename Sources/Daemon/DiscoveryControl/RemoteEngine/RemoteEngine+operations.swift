internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import DiscoverySystem

extension RemoteEngine {
    /// Starts a query with the daemon, or with what has taken its place.
    func begin<Fact>(
        _ succession: Succession<Fact>, _ start: (@escaping @Sendable ([Fact]) -> Void) -> any EngineOperation
    ) -> any EngineOperation {
        let operation = track(succession)
        if let successor = state.withLock({ $0.successor }) {
            succession.goOver(to: successor)
        } else {
            succession.began(start { [weak succession] in succession?.received($0) })
        }
        return operation
    }

    /// An event of a query's stream has been reported.
    func note(_ event: RemoteStream.Event) {
        let now = Duration.microseconds(MonotonicTime.now.microseconds)
        let isOver = state.withLock { state in
            switch event {
            case .line, .refused:
                state.absence.heard()
                return false
            // Without a thread the daemon has not been asked.
            case .woken, .hangs, .disconnected(RemoteStream.noThread): return false
            case .disconnected: return state.absence.missed(at: now, hangs: pulse.isMissed) && !state.isClosed
            }
        }
        guard isOver else { return }
        guard let successor = makeSuccessor() else { return state.withLock { $0.absence.notReplaced(at: now) } }
        let (operations, isClosed) = state.withLock { state in
            if !state.isClosed { state.successor = successor }
            return (Array(state.operations.values), state.isClosed)
        }
        guard !isClosed else {
            Task { await successor.shutdown() }
            return
        }
        for operation in operations {
            (operation.operation as? any Succeeding)?.goOver(to: successor)
        }
    }

    func browseByDaemon(
        _ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        if case .type(let type, _) = query.target, let shared = shareable(query) {
            return joinShared(shared, type, reporting)
        }
        state.withLock { $0.own += 1 }
        return follow(
            "/v1/services/watch?\(query.queryString.text)", reporting,
            { [weak self] in self?.state.withLock { $0.own -= 1 } },
            { json, names throws(JSONShapeError) in try DiscoveredService(line: json, names) })
    }

    /// Follows one of the daemon's streams for one query.
    /// - Parameters:
    ///   - ended: called at the end of the operation.
    ///   - read: reads the value of a line.
    func follow<Fact: MirroredFact>(
        _ target: String, _ report: @escaping @Sendable ([Fact]) -> Void, _ ended: @escaping @Sendable () -> Void = {},
        _ read: @escaping @Sendable (JSONValue, InterfaceNames) throws(JSONShapeError) -> Fact.Value
    ) -> any EngineOperation {
        let query = RemoteQuery<Fact>(atMost: pulse.place.mostValues, read)
        let member = query.join(reporting: report)
        query.start(pulse, target) { [weak self] in self?.note($0) }
        return Membership {
            _ = query.leave(member)
            ended()
        }
    }

    func watchDaemon(_ reporting: @escaping @Sendable ([EngineState]) -> Void) -> any EngineOperation {
        let stream = RemoteStream(pulse, ControlClient.Request("GET", "/v1/backend/watch")) { [weak self] event in
            defer { self?.note(event) }
            switch event {
            case .line(let bytes):
                guard let json = try? JSONReader.read(bytes), let backend = BackendState(json) else { return }
                reporting([EngineState(backend)])
            case .disconnected(let reason): reporting([.down(reason)])
            // Daemons before 0.2 do not report it, but they answer.
            case .refused: reporting([.up])
            case .woken, .hangs: return
            }
        }
        stream.start()
        return Membership { stream.cancel() }
    }

    /// The options that queries must have in common to share a stream; nil for a query that needs its own.
    private func shareable(_ query: ServiceQuery) -> Shared? {
        guard case .type(let type, let domain) = query.target, type.subtype == nil,
            state.withLock({ $0.own >= pulse.place.ownStreams })
        else { return nil }
        return Shared(
            domain: domain,
            interfaces: query.interfaces,
            family: query.family,
            resolution: query.resolution
        )
    }

    private func joinShared(
        _ shared: Shared, _ type: ServiceType, _ report: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        // Joined and left under the engine's lock: a query whose last member goes at that moment would never answer.
        let (query, member, isNew) = state.withLock { state -> (RemoteQuery<BrowseFact>, UInt64, Bool) in
            let known = state.shared[shared]
            let query = known ?? makeShared()
            state.shared[shared] = query
            return (query, query.join({ $0.type == type }, reporting: report), known == nil)
        }
        if isNew {
            var text = QueryString()
            text.add("domain", shared.domain.text)
            text.add(shared.interfaces, shared.family)
            text.add(shared.resolution)
            query.start(pulse, "/v1/services/watch?\(text.text)") { [weak self] in self?.note($0) }
        }
        return Membership { [weak self] in
            if let self {
                state.withLock { if query.leave(member) { $0.shared[shared] = nil } }
            } else {
                _ = query.leave(member)
            }
        }
    }

    private func makeShared() -> RemoteQuery<BrowseFact> {
        RemoteQuery(atMost: pulse.place.mostValues) { json, names throws(JSONShapeError) in
            try DiscoveredService(line: json, names)
        }
    }

    /// Keeps an operation until it ends, or ends it at once where the engine has ended.
    func track(_ operation: any EngineOperation) -> TrackedOperation {
        let (tracked, isClosed) = state.withLock { state in
            state.lastID += 1
            let id = state.lastID
            let tracked = TrackedOperation(operation) { [weak self] in
                self?.state.withLock { $0.operations[id] = nil }
            }
            if !state.isClosed { state.operations[id] = tracked }
            return (tracked, state.isClosed)
        }
        if isClosed { tracked.cancel() }
        return tracked
    }
}

/// A query that the daemon answers is a membership of its stream, which closes with the last.
extension Membership: EngineOperation {
    package func cancel() { leave() }

    package func cancel(waitingAtMost limit: Duration) async -> Bool {
        leave()
        return true
    }
}
