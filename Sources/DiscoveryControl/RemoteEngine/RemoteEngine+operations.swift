internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import DiscoverySystem

extension RemoteEngine {
    /// The most queries with a connection of their own.
    private static let ownStreams = 3

    /// Starts a query with the daemon, or with what has taken its place.
    func begin<Fact>(
        _ succession: Succession<Fact>, _ start: (@escaping @Sendable ([Fact]) -> Void) -> any EngineOperation
    ) -> any EngineOperation {
        let operation = TrackedOperation(succession) { [weak self] in self?.forget($0) }
        track(operation)
        if let successor = state.withLock({ $0.successor }) {
            succession.goOver(to: successor)
        } else {
            succession.began(start { [weak succession] in succession?.received($0) })
        }
        return operation
    }

    /// An event of a query's stream has been reported.
    func note(_ event: RemoteStream.Event) {
        let isOver = state.withLock { state in
            switch event {
            case .line, .refused:
                state.absence.heard()
                return false
            case .woken: return false
            case .disconnected:
                return state.absence.missed(at: .microseconds(MonotonicTime.now.microseconds)) && !state.isClosed
            }
        }
        guard isOver, let successor = makeSuccessor() else { return }
        let (operations, isClosed) = state.withLock { state in
            if !state.isClosed { state.successor = successor }
            return (Array(state.operations.values), state.isClosed)
        }
        guard !isClosed else {
            Task { await successor.shutdown() }
            return
        }
        for operation in operations {
            ((operation as? TrackedOperation)?.operation as? any Succeeding)?.goOver(to: successor)
        }
    }

    func browseByDaemon(
        _ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        if let shared = shareable(query) { return joinShared(shared, query, reporting) }
        let browses = RemoteBrowses(isResolving: query.resolution != .none, family: query.family)
        let member = browses.join(nil, reporting)
        state.withLock { $0.own += 1 }
        browses.start(path, query.queryString) { [weak self] in self?.note($0) }
        return RemoteOperation { [weak self] in
            _ = browses.leave(member)
            self?.state.withLock { $0.own -= 1 }
        }
    }

    func watchDaemon(_ reporting: @escaping @Sendable ([EngineState]) -> Void) -> any EngineOperation {
        let stream = RemoteStream(path: path, ControlClient.Request("GET", "/v1/backend/watch")) { [weak self] event in
            defer { self?.note(event) }
            switch event {
            case .line(let bytes):
                guard let json = try? JSONReader.read(bytes), let backend = BackendState(json) else { return }
                reporting([EngineState(backend)])
            case .disconnected(let reason): reporting([.down(reason)])
            // Daemons before 0.2 do not report it, but they answer.
            case .refused: reporting([.up])
            case .woken: return
            }
        }
        stream.start()
        return RemoteOperation { stream.cancel() }
    }

    func follow<Key: Hashable & Sendable>(
        _ target: String,
        _ key: @escaping @Sendable (JSONValue) -> Key?,
        _ report: @escaping @Sendable ([PresenceFact<Key>]) -> Void
    ) -> any EngineOperation {
        let names = InterfaceNames()
        let presence = Locked(RemotePresence<Key>())
        let stream = RemoteStream(path: path, ControlClient.Request("GET", target)) { [weak self] event in
            defer { self?.note(event) }
            let facts = presence.withLock { presence -> [PresenceFact<Key>] in
                switch event {
                case .line(let bytes):
                    guard let line = try? PresenceLine(bytes, names, key) else { return [] }
                    return presence.received(line)
                case .disconnected(let reason):
                    names.forget()
                    return presence.disconnected(reason)
                case .refused(let error): return presence.disconnected(error.message)
                case .woken: return []
                }
            }
            if !facts.isEmpty { report(facts) }
        }
        stream.start()
        return RemoteOperation { stream.cancel() }
    }

    /// The options that queries must have in common to share a stream; nil for a query that needs its own.
    private func shareable(_ query: ServiceQuery) -> Shared? {
        guard case .type(let type, let domain) = query.target, type.subtype == nil,
            state.withLock({ $0.own >= Self.ownStreams })
        else { return nil }
        return Shared(
            domain: domain,
            interfaces: query.interfaces,
            family: query.family,
            resolution: query.resolution
        )
    }

    private func joinShared(
        _ shared: Shared,
        _ query: ServiceQuery,
        _ report: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        guard case .type(let type, _) = query.target else { return RemoteOperation {} }
        let (browses, isNew) = state.withLock { state -> (RemoteBrowses, Bool) in
            if let browses = state.shared[shared] { return (browses, false) }
            let browses = RemoteBrowses(isResolving: shared.resolution != .none, family: shared.family)
            state.shared[shared] = browses
            return (browses, true)
        }
        let member = browses.join(type, report)
        if isNew {
            var text = QueryString()
            text.add("domain", shared.domain.text)
            text.add(shared.interfaces, shared.family)
            text.add(shared.resolution)
            browses.start(path, text) { [weak self] in self?.note($0) }
        }
        return RemoteOperation { [weak self] in
            guard browses.leave(member) else { return }
            self?.state.withLock { if $0.shared[shared] === browses { $0.shared[shared] = nil } }
        }
    }

    func track(_ operation: TrackedOperation) {
        let isClosed = state.withLock { state in
            state.lastID += 1
            operation.id = state.lastID
            if !state.isClosed { state.operations[state.lastID] = operation }
            return state.isClosed
        }
        if isClosed { operation.cancel() }
    }

    func forget(_ id: UInt64) { state.withLock { $0.operations[id] = nil } }
}
