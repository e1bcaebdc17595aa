import AvahiEngine
import DNSSD
import Discovery
import MulticastEngine
import System

/// The wire, and for one name that is silent there avahi-daemon as well.
///
/// A responder that has answered someone keeps silent for a second (RFC 6762 §6); avahi-daemon has heard that answer.
final class SecondOpinion: ServiceFinder {
    /// A responder that is free to answer has done so by then.
    private static let silence = Duration.milliseconds(150)

    private let wire: MulticastEngine
    private let isAllowed: Bool
    private let second = Locked<AvahiEngine?>(nil)

    /// - Parameter backend: the publisher's; where it is private only, avahi-daemon is not asked.
    init(_ wire: MulticastEngine, backend: AvahiBackend) {
        self.wire = wire
        isAllowed = if case .private = backend { false } else { true }
    }

    func finds(in domain: Domain) -> Bool { wire.finds(in: domain) }

    func limits(in domain: Domain) -> DiscoveryLimits { wire.limits(in: domain) }

    var troubles: [String] { wire.troubles }

    func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        wire.watchState(reporting)
    }

    func browse(
        _ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        guard case .instance = query.target, isAllowed else { return wire.browse(query, reporting: reporting) }
        return NamedQuery(query, wire, after: Self.silence, second: engine, reporting)
    }

    func browseTypes(
        _ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation { wire.browseTypes(query, reporting: reporting) }

    func browseDomains(
        _ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation { wire.browseDomains(query, reporting: reporting) }

    func shutdown() async -> Bool {
        let avahi = second.withLock { $0 }
        async let isDone = wire.shutdown()
        await avahi?.shutdown()
        return await isDone
    }

    /// Made when it is first needed, which is rare.
    private func engine() -> AvahiEngine? {
        second.withLock { second in
            if second == nil { second = try? AvahiEngine(backend: .system) }
            return second
        }
    }
}

/// One name, asked of the wire and, when it is silent, of avahi-daemon.
private final class NamedQuery: EngineOperation {
    private struct State {
        var hasAnswer = false
        var isOver = false
        var operations: [any EngineOperation] = []
        var timer: Task<Void, Never>?
    }

    private let state = Locked(State())

    init(
        _ query: ServiceQuery, _ wire: MulticastEngine, after silence: Duration,
        second: @escaping @Sendable () -> AvahiEngine?, _ reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) {
        let timer = Task { [weak self] in
            let time = SystemTime()
            guard (try? await time.sleep(until: time.now + silence)) != nil else { return }
            guard let self, !self.state.withLock({ $0.hasAnswer || $0.isOver }), let engine = second() else { return }
            self.add(
                engine.browse(query) { [weak self] facts in
                    // What it knows more counts; that it knows nothing, or stops, says nothing of the wire.
                    let answers = facts.compactMap(\.answer)
                    guard !answers.isEmpty, let self else { return }
                    self.state.withLock { state in
                        if !state.hasAnswer, !state.isOver { reporting(answers) }
                    }
                })
        }
        state.withLock { $0.timer = timer }
        add(
            wire.browse(query) { [weak self] facts in
                guard let self else { return }
                // Reported under the lock, as the other's, so that no report overtakes another: a report returns quickly.
                self.state.withLock { state in
                    guard !state.isOver else { return }
                    if facts.contains(where: { $0.answer != nil }) { state.hasAnswer = true }
                    reporting(facts)
                }
            })
    }

    private func add(_ operation: any EngineOperation) {
        let isOver = state.withLock { state in
            if !state.isOver { state.operations.append(operation) }
            return state.isOver
        }
        if isOver { operation.cancel() }
    }

    private func end() -> [any EngineOperation] {
        state.withLock { state in
            state.isOver = true
            state.timer?.cancel()
            defer { state.operations = [] }
            return state.operations
        }
    }

    func cancel() { for operation in end() { operation.cancel() } }

    func cancel(waitingAtMost limit: Duration) async -> Bool {
        var isDone = true
        for operation in end() { isDone = await operation.cancel(waitingAtMost: limit) && isDone }
        return isDone
    }
}

extension BrowseFact {
    /// Nil for what is none. Without a family, as the wire reports it: it says later that the same is gone.
    fileprivate var answer: BrowseFact? {
        switch self {
        case .appeared(let sighting):
            .appeared(
                Sighting(instance: sighting.instance, origin: sighting.origin, family: nil, isOwn: sighting.isOwn))
        case .resolved: self
        default: nil
        }
    }
}
