public import DNSSD
public import Discovery
internal import DiscoveryJSON
internal import DiscoverySystem

/// The running daemon as an engine. It answers queries from what it knows; a publication lives as long as its
/// connection.
///
/// The first three queries have a connection each. Further types with the same options share one stream of all services, because the daemon
/// limits connections per user. Queries can go on without a daemon that is away for too long; publications wait for it.
public final class RemoteEngine: DiscoveryEngine {
    /// What queries must have in common to share a stream.
    struct Shared: Hashable {
        let domain: Domain
        let interfaces: InterfaceFilter
        let family: IPAddress.Family?
        let resolution: ServiceQuery.Resolution
    }

    struct State {
        var lastID: UInt64 = 0
        var operations: [UInt64: TrackedOperation] = [:]
        var shared: [Shared: RemoteQuery<BrowseFact>] = [:]
        var own = 0
        var isClosed = false
        var other: (any DiscoveryEngine)?
        var absence: DaemonAbsence
        /// What finds in the place of a daemon that is away.
        var successor: (any DiscoveryEngine)?
    }

    /// The daemon's control socket.
    public var path: String { pulse.place.name }

    let pulse: Pulse
    private let check: RegistrationRequest.Check?
    private let makeOther: @Sendable () -> (any DiscoveryEngine)?
    let makeSuccessor: @Sendable () -> (any DiscoveryEngine)?
    let state: Locked<State>
    private let making = Locked(())

    /// Creates an engine. It connects on the first request, and reconnects as needed.
    /// - Parameters:
    ///   - check: the check that must pass for its publications to be advertised.
    ///   - otherwise: makes an engine that publishes without a check once the daemon has no connection left for this
    ///     user (`clients-per-user`). Called once.
    ///   - patience: how long the daemon may be away until queries go on without it.
    ///   - withoutDaemon: makes what finds then, until the program ends; nil: they wait for the daemon. Called again, as
    ///     long as the daemon is away, until it has made one.
    public convenience init(
        path: String,
        check: RegistrationRequest.Check? = nil,
        otherwise: @escaping @Sendable () -> (any DiscoveryEngine)? = { nil },
        patience: Duration = .seconds(5),
        withoutDaemon: @escaping @Sendable () -> (any DiscoveryEngine)? = { nil }
    ) {
        self.init(
            ControlPlace(path: path), check: check, otherwise: otherwise, patience: patience,
            withoutDaemon: withoutDaemon)
    }

    /// Of another site's daemon it tells the services.
    package init(
        _ place: ControlPlace, check: RegistrationRequest.Check? = nil,
        otherwise: @escaping @Sendable () -> (any DiscoveryEngine)? = { nil }, patience: Duration = .zero,
        withoutDaemon: @escaping @Sendable () -> (any DiscoveryEngine)? = { nil }
    ) {
        pulse = Pulse(place)
        self.check = check
        makeOther = otherwise
        makeSuccessor = withoutDaemon
        state = Locked(State(absence: DaemonAbsence(patience: patience)))
    }

    /// True for every domain; the daemon decides.
    public func finds(in domain: Domain) -> Bool { true }

    /// True for every domain; the daemon refuses domains in which it does not publish.
    public func publishes(in domain: Domain) -> Bool { true }

    /// Operations started and not ended.
    public var openOperations: Int { state.withLock { $0.operations.count } }

    /// Starts a query for services.
    public func browse(
        _ query: ServiceQuery,
        reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        let succession = Succession(
            saying: { .backend($0) }, reporting: reporting, start: { $0.browse(query, reporting: $1) })
        return begin(succession) { self.browseByDaemon(query, reporting: $0) }
    }

    /// Starts a query for types.
    public func browseTypes(
        _ query: TypeQuery,
        reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation {
        var text = QueryString()
        text.add("domain", query.domain.text)
        text.add(query.interfaces, query.family)
        let succession = Succession(
            saying: { .backend($0) }, reporting: reporting, start: { $0.browseTypes(query, reporting: $1) })
        return begin(succession) { [text] in
            self.follow("/v1/types/watch?\(text.text)", $0) { json, names throws(JSONShapeError) in
                Listing(try TypeKey(json), json, names)
            }
        }
    }

    /// Tells the daemon, which verifies the service's records for everyone.
    public func couldNotReach(_ instance: ServiceInstance) {
        if let successor = state.withLock({ $0.successor }) { return successor.couldNotReach(instance) }
        var text = QueryString()
        text.add(instance)
        let message = RemoteMessage(
            ControlClient.Request("POST", "/v1/services/unreachable?\(text.text)"), to: pulse.place)
        let operation = track(message)
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
        let succession = Succession(
            saying: { .backend($0) }, reporting: reporting, start: { $0.browseDomains(query, reporting: $1) })
        return begin(succession) { [text] in
            self.follow("/v1/domains/watch?\(text.text)", $0) { json, names throws(JSONShapeError) in
                Listing(try Domain(json), json, names)
            }
        }
    }

    /// Follows the daemon's backend, and the connection to the daemon.
    public func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        let told = Locked<EngineState?>(nil)
        // Each change once, whoever reports it.
        let report: @Sendable ([EngineState]) -> Void = { states in
            for state in states where told.exchange(state) != state { reporting(state) }
        }
        let succession = Succession<EngineState>(
            saying: { $0 }, reporting: report, start: { other, report in other.watchState { report([$0]) } })
        return begin(succession) { self.watchDaemon($0) }
    }

    /// Publishes a service for the lifetime of the operation.
    public func publish(
        _ service: OfferedService,
        onConflict: ConflictPolicy,
        isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        let request = RegistrationRequest(service, onConflict: onConflict, check: check)
        let publication = RemotePublication(pulse, request, isPersistent: isPersistent) { [weak self] service in
            guard request.check == nil else { return nil }
            return self?.other()?.publish(
                service, onConflict: onConflict, isPersistent: isPersistent, reporting: reporting)
        } reporting: {
            reporting($0)
        }
        let operation = track(publication)
        publication.start()
        return operation
    }

    /// Ends all operations and withdraws all publications.
    /// - Returns: whether the daemon confirmed every withdrawal in time.
    @discardableResult
    public func shutdown() async -> Bool {
        let (operations, others) = state.withLock { state in
            state.isClosed = true
            defer { state.operations = [:] }
            return (Array(state.operations.values), [state.other, state.successor].compactMap(\.self))
        }
        let isDone = await withTaskGroup(of: Bool.self) { group in
            for operation in operations {
                group.addTask { await operation.cancel(waitingAtMost: .milliseconds(1800)) }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        var isOtherDone = true
        for other in others where !(await other.shutdown()) { isOtherDone = false }
        return isDone && isOtherDone
    }

    /// What publishes where the daemon has no connection left; made by one caller at a time, and once.
    func other() -> (any DiscoveryEngine)? {
        making.withLock { _ -> (any DiscoveryEngine)? in
            let (other, isClosed) = state.withLock { ($0.other, $0.isClosed) }
            if other != nil || isClosed { return other }
            guard let made = makeOther() else { return nil }
            let isKept = state.withLock { state in
                if !state.isClosed { state.other = made }
                return !state.isClosed
            }
            guard isKept else {
                Task { await made.shutdown() }
                return nil
            }
            return made
        }
    }
}

/// A message to the daemon whose answer does not matter. Its end waits until it is sent.
final class RemoteMessage: EngineOperation {
    private let task: Task<Void, Never>

    init(_ request: ControlClient.Request, to place: ControlPlace) {
        task = Task { _ = try? await ControlClient(place).send(request, within: .seconds(2)) }
    }

    func cancel() {}

    func cancel(waitingAtMost limit: Duration) async -> Bool {
        await withTimeLimit(limit) { [task] in await task.value }
        return true
    }

    /// Returns once the daemon has answered, or has not.
    func finish() async { await task.value }
}

/// Whether the daemon has been away for so long that queries go on without it. A value.
struct DaemonAbsence: Sendable {
    private enum Standing: Equatable {
        /// It has not answered yet: nothing known would be kept by waiting for it.
        case unheard
        case there
        case away(since: Duration)
        /// Queries go on without it, until the program ends.
        case over
    }

    private let patience: Duration
    private var standing = Standing.unheard

    init(patience: Duration) { self.patience = patience }

    /// The daemon has said something.
    mutating func heard() { if standing != .over { standing = .there } }

    /// There was no daemon at a time, or one that hangs, which was waited for already.
    /// - Returns: whether queries are to go on without it now.
    mutating func missed(at now: Duration, hangs: Bool = false) -> Bool {
        switch standing {
        case .over: return false
        case .there where !hangs && patience > .zero: standing = .away(since: now)
        case .away(let since) where !hangs && now - since < patience: break
        case .unheard, .there, .away:
            standing = .over
            return true
        }
        return false
    }

    /// Nothing could take its place at a time: that is tried again where it is missed.
    mutating func notReplaced(at now: Duration) { standing = .away(since: now) }
}
