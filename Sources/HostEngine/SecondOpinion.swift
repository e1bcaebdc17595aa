import AvahiEngine
import DNSSD
import Discovery
import DiscoverySystem
import MulticastEngine

/// The wire; for a single name that is silent there, also avahi-daemon's cache.
///
/// A responder that has just answered someone else stays silent for a second (RFC 6762 §6), but avahi-daemon has heard that answer.
final class SecondOpinion: ServiceFinder {
    /// A responder that is free to answer has done so by then.
    private static let silence = Duration.milliseconds(150)

    private let wire: MulticastEngine
    private let avahi: AvahiEngine

    /// - Parameter avahi: not ended by `shutdown`.
    init(_ wire: MulticastEngine, _ avahi: AvahiEngine) {
        self.wire = wire
        self.avahi = avahi
    }

    func finds(in domain: Domain) -> Bool { wire.finds(in: domain) }

    func limits(in domain: Domain) -> DiscoveryLimits { wire.limits(in: domain) }

    func couldNotReach(_ instance: ServiceInstance) { wire.couldNotReach(instance) }

    var troubles: [String] { wire.troubles }

    func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        wire.watchState(reporting)
    }

    func browse(
        _ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        guard case .instance(let instance) = query.target else { return wire.browse(query, reporting: reporting) }
        return NamedQuery(query, instance, wire, after: Self.silence, second: avahi, reporting)
    }

    func browseTypes(
        _ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation { wire.browseTypes(query, reporting: reporting) }

    func browseDomains(
        _ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation { wire.browseDomains(query, reporting: reporting) }

    func shutdown() async -> Bool { await wire.shutdown() }
}

/// A query for one name on the wire and, as long as that is silent, to avahi-daemon's cache.
private final class NamedQuery: EngineOperation {
    /// How long the cache's answer counts: a one-shot question's counts as long (docs/decisions/0036-one-shot-questions.md).
    private static let interval = Duration.seconds(10)

    private struct State {
        var hasAnswer = false
        var isOver = false
        /// One of them has said that this is all.
        var isListed = false
        var wire: (any EngineOperation)?
        var second: (any EngineOperation)?
        /// Sightings reported only by avahi-daemon.
        var said: Set<Sighting> = []
        var timer: Task<Void, Never>?
    }

    private let state = Locked(State())

    init(
        _ query: ServiceQuery, _ instance: ServiceInstance, _ wire: MulticastEngine, after silence: Duration,
        second: AvahiEngine, _ reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) {
        let timer = Task { [weak self] in
            let time = SystemTime()
            var delay = silence
            while (try? await time.sleep(until: time.now + delay)) != nil {
                guard let self, !self.state.withLock({ $0.hasAnswer || $0.isOver }) else { return }
                let operation = second.lookUpInCache(instance, for: query) { [weak self] in
                    self?.secondSaid($0, resolves: query.resolution != .none, reporting)
                }
                keep(operation, isWire: false)
                delay = Self.interval
            }
        }
        state.withLock { $0.timer = timer }
        keep(wire.browse(query) { [weak self] facts in self?.wireSaid(facts, reporting) }, isWire: true)
    }

    /// Reports under the lock, as `secondSaid` does, so that no report overtakes another. Reporting returns quickly.
    private func wireSaid(_ facts: [BrowseFact], _ reporting: ([BrowseFact]) -> Void) {
        let over = state.withLock { state -> (any EngineOperation)? in
            guard !state.isOver else { return nil }
            let facts = state.isListed ? facts.filter { $0 != .listed } : facts
            state.isListed = state.isListed || facts.contains(.listed)
            guard !state.hasAnswer, facts.contains(where: { $0.sighting != nil }) else {
                if !facts.isEmpty { reporting(facts) }
                return nil
            }
            state.hasAnswer = true
            // Where the wire has an answer, it replaces avahi-daemon's. Elsewhere avahi-daemon's is kept until the wire confirms it.
            let places = Set(facts.compactMap { $0.sighting?.origin })
            reporting(facts + state.said.filter { !places.contains($0.origin) }.map { .disappeared($0) })
            state.said = []
            defer { state.second = nil }
            return state.second
        }
        over?.cancel()
    }

    /// Adds what only avahi-daemon knows, and takes back what it knows no more.
    private func secondSaid(
        _ found: [Sighting: Resolution], resolves: Bool, _ reporting: ([BrowseFact]) -> Void
    ) {
        state.withLock { state in
            guard !state.hasAnswer, !state.isOver else { return }
            var news = state.said.filter { found[$0] == nil }.map { BrowseFact.disappeared($0) }
            for (sighting, resolution) in found {
                if !state.said.contains(sighting) { news.append(.appeared(sighting)) }
                if resolves { news.append(.resolved(resolution)) }
            }
            state.said = Set(found.keys)
            if !state.said.isEmpty, !state.isListed {
                state.isListed = true
                news.append(.listed)
            }
            if !news.isEmpty { reporting(news) }
        }
    }

    private func keep(_ operation: any EngineOperation, isWire: Bool) {
        let isOver = state.withLock { state in
            // The wire may have answered before the second query was stored.
            guard !state.isOver, isWire || !state.hasAnswer else { return true }
            if isWire { state.wire = operation } else { state.second = operation }
            return false
        }
        if isOver { operation.cancel() }
    }

    private func end() -> [any EngineOperation] {
        state.withLock { state in
            state.isOver = true
            state.timer?.cancel()
            defer { (state.wire, state.second) = (nil, nil) }
            return [state.wire, state.second].compactMap(\.self)
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
    fileprivate var sighting: Sighting? { if case .appeared(let sighting) = self { sighting } else { nil } }
}
