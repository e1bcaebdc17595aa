import AvahiEngine
import DNSSD
import Discovery
import DiscoverySystem
import MulticastEngine

/// A finder that leaves to another what it does not do itself.
protocol Forwarding: ServiceFinder {
    associatedtype Finder: ServiceFinder
    var finder: Finder { get }
}

extension Forwarding {
    func finds(in domain: Domain) -> Bool { finder.finds(in: domain) }

    func limits(in domain: Domain) -> DiscoveryLimits { finder.limits(in: domain) }

    func couldNotReach(_ instance: ServiceInstance) { finder.couldNotReach(instance) }

    var troubles: [String] { finder.troubles }

    func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        finder.watchState(reporting)
    }

    func browse(
        _ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation { finder.browse(query, reporting: reporting) }

    func browseTypes(
        _ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation { finder.browseTypes(query, reporting: reporting) }

    func browseDomains(
        _ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation { finder.browseDomains(query, reporting: reporting) }

    func shutdown() async -> Bool { await finder.shutdown() }
}

/// The wire; for a single name that is silent there, also avahi-daemon's cache.
///
/// A responder that has just answered someone else stays silent for a second (RFC 6762 §6), but avahi-daemon has heard that answer.
final class SecondOpinion: Forwarding {
    /// A responder that is free to answer has done so by then.
    private static let silence = Duration.milliseconds(150)

    let finder: MulticastEngine
    private let avahi: AvahiEngine

    /// - Parameter avahi: not ended by `shutdown`.
    init(_ wire: MulticastEngine, _ avahi: AvahiEngine) { (finder, self.avahi) = (wire, avahi) }

    func browse(
        _ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        guard case .instance(let instance) = query.target else { return finder.browse(query, reporting: reporting) }
        return NamedQuery(query, instance, finder, after: Self.silence, second: avahi, reporting)
    }
}

/// avahi-daemon for domains beyond the link. It is no part of what finds on the link, and its absence is no loss there.
final class OtherDomains: Forwarding {
    let finder: AvahiEngine

    /// - Parameter avahi: not ended by `shutdown`.
    init(_ avahi: AvahiEngine) { finder = avahi }

    func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        SingleReport { reporting(.up) }
    }

    func shutdown() async -> Bool { true }
}

/// A query for one name on the wire and, as long as that is silent, to avahi-daemon's cache.
private final class NamedQuery: EngineOperation {
    /// How long the cache's answer counts: a one-shot question's counts as long (docs/decisions/0036-one-shot-questions.md).
    private static let interval = Duration.seconds(10)

    private struct Open {
        var answers: NamedAnswers
        var wire: (any EngineOperation)?
        var second: (any EngineOperation)?
        var timer: Task<Void, Never>?
    }

    /// Nil once it has ended.
    private let open: Locked<Open?>
    private let report: @Sendable ([BrowseFact]) -> Void

    init(
        _ query: ServiceQuery, _ instance: ServiceInstance, _ wire: MulticastEngine, after silence: Duration,
        second: AvahiEngine, _ reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) {
        open = Locked(Open(answers: NamedAnswers(query.resolution)))
        report = reporting
        let timer = Task { [weak self] in
            let time = SystemTime()
            let start = time.now
            var next = start + silence
            while (try? await time.sleep(until: next)) != nil {
                guard let self, needsSecond else { return }
                let operation = second.lookUpInCache(instance, for: query) { [weak self] found in
                    self?.took { $0.secondSaid(found) }
                }
                keep(operation, isWire: false)
                next = time.now + Self.interval
                guard (try? await time.sleep(until: start + NamedAnswers.patience)) != nil else { return }
                took { $0.wireWasSilent() }
            }
        }
        open.withLock { $0?.timer = timer }
        keep(wire.browse(query) { [weak self] facts in self?.took { $0.wireSaid(facts) } }, isWire: true)
    }

    private var needsSecond: Bool { open.withLock { $0?.answers.isWireHeard == false } }

    /// Reports under the lock, so that no report overtakes another. Reporting returns quickly.
    private func took(_ news: (inout NamedAnswers) -> [BrowseFact]) {
        let over = open.withLock { open -> (any EngineOperation)? in
            guard var now = open else { return nil }
            let facts = news(&now.answers)
            if !facts.isEmpty { report(facts) }
            let over = now.answers.isWireHeard ? now.second : nil
            if now.answers.isWireHeard { now.second = nil }
            open = now
            return over
        }
        over?.cancel()
    }

    private func keep(_ operation: any EngineOperation, isWire: Bool) {
        let isOver = open.withLock { open in
            // The wire may have answered before the second query was stored.
            guard let answers = open?.answers, isWire || !answers.isWireHeard else { return true }
            if isWire { open?.wire = operation } else { open?.second = operation }
            return false
        }
        if isOver { operation.cancel() }
    }

    private func end() -> [any EngineOperation] {
        open.withLock { open in
            defer { open = nil }
            open?.timer?.cancel()
            return [open?.wire, open?.second].compactMap(\.self)
        }
    }

    func cancel() { for operation in end() { operation.cancel() } }

    func cancel(waitingAtMost limit: Duration) async -> Bool {
        await end().allSucceed { await $0.cancel(waitingAtMost: limit) }
    }
}
