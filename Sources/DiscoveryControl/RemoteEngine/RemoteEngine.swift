public import DNSSD
public import Discovery
internal import DiscoveryJSON
internal import DiscoverySystem

/// The running daemon as an engine. It answers queries from what it knows; a publication lives as long as its
/// connection.
///
/// The first `ownStreams` queries have a connection each. Further types with the same options share one stream of all
/// services, because the daemon limits connections per user.
public final class RemoteEngine: DiscoveryEngine {
    private static let ownStreams = 3

    private struct Shared: Hashable {
        let domain: Domain
        let interfaces: InterfaceFilter
        let family: IPAddress.Family?
        let resolution: ServiceQuery.Resolution
    }

    private struct State {
        var lastID: UInt64 = 0
        var operations: [UInt64: any EngineOperation] = [:]
        var shared: [Shared: RemoteBrowses] = [:]
        var own = 0
        var isClosed = false
        var other: (any DiscoveryEngine)?
    }

    /// The daemon's control socket.
    public let path: String

    private let check: RegistrationRequest.Check?
    private let makeOther: @Sendable () -> (any DiscoveryEngine)?
    private let state = Locked(State())

    /// Creates an engine. It connects on the first request, and reconnects as needed.
    /// - Parameters:
    ///   - check: the check that must pass for its publications to be advertised.
    ///   - otherwise: makes an engine that publishes without a check once the daemon has no connection left for this
    ///     user (`clients-per-user`). Called once.
    public init(
        path: String,
        check: RegistrationRequest.Check? = nil,
        otherwise: @escaping @Sendable () -> (any DiscoveryEngine)? = { nil }
    ) {
        self.path = path
        self.check = check
        makeOther = otherwise
    }

    /// True for every domain; the daemon decides.
    public func finds(in domain: Domain) -> Bool { true }

    /// True for every domain; the daemon refuses domains in which it does not publish.
    public func publishes(in domain: Domain) -> Bool { true }

    /// The limits; the daemon has already merged sightings and held back removals.
    public func limits(in domain: Domain) -> DiscoveryLimits {
        var limits = DiscoveryLimits()
        // The daemon reports what it omits.
        limits.services = 20_000
        limits.removalHold = .milliseconds(200)
        // For services that a restarted daemon does not report again.
        limits.linkHold = .milliseconds(3100)
        limits.addressHold = .zero
        limits.resolutionLimit = .milliseconds(500)
        limits.changeInterval = .zero
        return limits
    }

    /// Operations started and not ended.
    public var openOperations: Int { state.withLock { $0.operations.count } }

    /// Starts a query for services.
    public func browse(
        _ query: ServiceQuery,
        reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        if let shared = shareable(query) { return joinShared(shared, query, reporting) }
        let browses = RemoteBrowses(isResolving: query.resolution != .none, family: query.family)
        let member = browses.join(nil, reporting)
        state.withLock { $0.own += 1 }
        let operation = register { [weak self] in
            _ = browses.leave(member)
            self?.state.withLock { $0.own -= 1 }
        }
        browses.start(path, query.queryString)
        return operation
    }

    /// Starts a query for types.
    public func browseTypes(
        _ query: TypeQuery,
        reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation {
        var text = QueryString()
        text.add("domain", query.domain.text)
        text.add(query.interfaces, query.family)
        return follow("/v1/types/watch?\(text.text)", { TypeKey($0) }, reporting)
    }

    /// Tells the daemon, which verifies the service's records for everyone.
    public func couldNotReach(_ instance: ServiceInstance) {
        var text = QueryString()
        text.add(instance)
        let message = RemoteMessage(ControlClient.Request("POST", "/v1/services/unreachable?\(text.text)"), to: path)
        let operation = TrackedOperation(message) { [weak self] in self?.forget($0) }
        track(operation)
        Task {
            await message.finish()
            operation.cancel()
        }
    }

    /// Starts a query for domains.
    public func browseDomains(
        _ query: DomainQuery,
        reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation {
        var text = QueryString()
        text.add("purpose", query.purpose == .browsing ? "browsing" : "registration")
        for domain in query.recommenders { text.add("domain", domain.text) }
        text.add(query.interfaces, nil)
        return follow("/v1/domains/watch?\(text.text)", { Domain($0) }, reporting)
    }

    /// Follows the daemon's backend, and the connection to the daemon.
    public func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        let told = Locked<EngineState?>(nil)
        let stream = RemoteStream(path: path, ControlClient.Request("GET", "/v1/backend/watch")) { event in
            let state: EngineState
            switch event {
            case .line(let bytes):
                guard let json = try? JSONReader.read(bytes), let backend = BackendState(json) else { return }
                state = EngineState(backend)
            case .disconnected(let reason): state = .down(reason)
            // Daemons before 0.2 do not report it, but they answer.
            case .refused: state = .up
            case .woken: return
            }
            let isNews = told.withLock { told in
                defer { told = state }
                return told != state
            }
            if isNews { reporting(state) }
        }
        let operation = register { stream.cancel() }
        stream.start()
        return operation
    }

    /// Publishes a service for the lifetime of the operation.
    public func publish(
        _ service: OfferedService,
        onConflict: ConflictPolicy,
        isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        let request = RegistrationRequest(service, onConflict: onConflict, check: check)
        let publication = RemotePublication(path: path, request, isPersistent: isPersistent) { [weak self] in
            guard request.check == nil else { return nil }
            return self?.other()?.publish(
                service, onConflict: onConflict, isPersistent: isPersistent, reporting: reporting)
        } reporting: {
            reporting($0)
        }
        let operation = TrackedOperation(publication) { [weak self] in self?.forget($0) }
        track(operation)
        publication.start()
        return operation
    }

    /// Ends all operations and withdraws all publications.
    /// - Returns: whether the daemon confirmed every withdrawal in time.
    @discardableResult
    public func shutdown() async -> Bool {
        let (operations, other) = state.withLock { state in
            state.isClosed = true
            defer { state.operations = [:] }
            return (Array(state.operations.values), state.other)
        }
        let isDone = await withTaskGroup(of: Bool.self) { group in
            for operation in operations {
                group.addTask { await operation.cancel(waitingAtMost: .milliseconds(1800)) }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        let isOtherDone = await other?.shutdown() ?? true
        return isDone && isOtherDone
    }

    private func other() -> (any DiscoveryEngine)? {
        if let other = state.withLock({ $0.other }) { return other }
        let made = makeOther()
        return state.withLock { state in
            if state.isClosed { return nil }
            state.other = state.other ?? made
            return state.other
        }
    }
}

// MARK: Operations
extension RemoteEngine {
    private func follow<Key: Hashable & Sendable>(
        _ target: String,
        _ key: @escaping @Sendable (JSONValue) -> Key?,
        _ report: @escaping @Sendable ([PresenceFact<Key>]) -> Void
    ) -> any EngineOperation {
        let names = InterfaceNames()
        let presence = Locked(RemotePresence<Key>())
        let stream = RemoteStream(path: path, ControlClient.Request("GET", target)) { event in
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
        let operation = register { stream.cancel() }
        stream.start()
        return operation
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
        guard case .type(let type, _) = query.target else { return register {} }
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
            browses.start(path, text)
        }
        return register { [weak self] in
            guard browses.leave(member) else { return }
            self?.state.withLock { if $0.shared[shared] === browses { $0.shared[shared] = nil } }
        }
    }

    private func register(_ end: @escaping @Sendable () -> Void) -> any EngineOperation {
        let operation = TrackedOperation(RemoteOperation(end)) { [weak self] in self?.forget($0) }
        track(operation)
        return operation
    }

    private func track(_ operation: TrackedOperation) {
        let isClosed = state.withLock { state in
            state.lastID += 1
            operation.id = state.lastID
            if !state.isClosed { state.operations[state.lastID] = operation }
            return state.isClosed
        }
        if isClosed { operation.cancel() }
    }

    private func forget(_ id: UInt64) { state.withLock { $0.operations[id] = nil } }
}
