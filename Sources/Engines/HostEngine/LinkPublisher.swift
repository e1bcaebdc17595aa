import AvahiEngine
import DNSSD
import Discovery
import DiscoverySystem
import MulticastEngine

/// Publishes on the link with avahi-daemon where that answers, else by itself; services go from one to the other as avahi-daemon comes and goes.
/// The rules are in `PublisherSelection` and `PublicationRelay`.
final class LinkPublisher: ServicePublisher {
    private struct State {
        var selection: PublisherSelection
        var publications: [UInt64: RelayedPublication] = [:]
        var number: UInt64 = 0
        var following = Following.none
    }

    /// Whether avahi-daemon is followed: while anything is published or watched.
    private enum Following {
        case none
        case active(any EngineOperation, timer: Task<Void, Never>)
        /// The publisher was shut down.
        case over
    }

    private let avahi: AvahiEngine
    private let wire: MulticastEngine?
    private let state: Locked<State>
    private let watchers = StateWatchers()
    private let obstacle: String?
    private let own: (any EngineRole)?

    /// - Parameters:
    ///   - wire: nil where this process cannot publish.
    ///   - obstacle: why not.
    ///   - own: what `shutdown` ends besides publications; the other one finds, too, and ends as a finder.
    init(_ avahi: AvahiEngine, _ wire: MulticastEngine?, obstacle: String?, ends own: (any EngineRole)?) {
        (self.avahi, self.wire, self.own) = (avahi, wire, own)
        self.obstacle = wire == nil ? obstacle ?? "discoverd does not publish here" : nil
        state = Locked(State(selection: PublisherSelection(obstacle: self.obstacle)))
    }

    /// The domain local alone.
    func publishes(in domain: Domain) -> Bool { domain == .local }

    /// What publishes now; nil where nothing does, or it is not known yet.
    var current: PublisherSelection.Publisher? {
        if case .publisher(let current) = state.withLock({ $0.selection.choice }) { current } else { nil }
    }

    /// This machine's name for what publishes now; nil where that is not known.
    var machineName: MulticastEngine.MachineName? {
        let selection = state.withLock(\.selection)
        switch selection.choice {
        case .publisher(.avahi):
            return selection.avahiHost.map { MulticastEngine.MachineName(name: $0.text, wanted: $0.text) }
        case .publisher(.wire): return wire?.machineName
        case .open, .nobody: return nil
        }
    }

    /// Up while avahi-daemon or this process can publish.
    func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        let watch = watchers.watch(reporting)
        follow()
        return Ending { [self] in leave { _ in watch.cancel() } }
    }

    func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        let publication = state.withLock { state -> RelayedPublication? in
            if case .over = state.following { return nil }
            state.number += 1
            let number = state.number
            let publication = RelayedPublication(
                service, onConflict, isPersistent: isPersistent, avahi: avahi, wire: wire, report: reporting
            ) { [state = self.state] in
                state.withLock(\.selection)
            } ended: { [self] in
                // Until then it keeps the publisher alive.
                leave { $0.publications[number] = nil }
            }
            state.publications[number] = publication
            return publication
        }
        guard let publication else {
            let error = DiscoveryError(.closed, "publishing on the link has ended")
            return SingleReport { reporting(PublicationFact(name: service.name, state: .failed(error))) }
        }
        // Not from within this call.
        Task { publication.follow() }
        follow()
        return publication
    }

    @discardableResult
    func shutdown() async -> Bool {
        let publications = leave(.over) { state in
            watchers.forgetAll()
            defer { state.publications = [:] }
            return state.publications.values.map(\.self)
        }
        let isNoted = await publications.allSucceed { await $0.cancel(waitingAtMost: .seconds(2)) }
        return await own?.shutdown() ?? true && isNoted
    }

    // MARK: Who publishes

    /// Follows avahi-daemon, once something is wanted.
    private func follow() {
        state.withLock { state in
            guard case .none = state.following else { return }
            state.selection = PublisherSelection(obstacle: obstacle)
            let operation = avahi.watchReadiness { [weak self] readiness in
                self?.decide { $0.avahiBecame(readiness) { SystemResponder.all } }
            }
            let timer = Task { [weak self] in
                let time = SystemTime()
                try? await time.sleep(until: time.now + PublisherSelection.patience)
                while !Task.isCancelled {
                    self?.decide { $0.look { SystemResponder.all } }
                    try? await time.sleep(until: time.now + PublisherSelection.interval)
                }
            }
            state.following = .active(operation, timer: timer)
        }
    }

    /// Removes something; once nothing is left, or at the end, avahi-daemon is followed no more.
    private func leave<Removed>(_ next: Following = .none, _ removing: (inout State) -> Removed) -> Removed {
        let (removed, before) = state.withLock { state -> (Removed, Following) in
            let removed = removing(&state)
            if case .over = state.following { return (removed, .none) }
            // Somebody may begin to watch meanwhile, who does not keep it from ending.
            let isEnd = if case .over = next { true } else { false }
            guard isEnd || state.publications.isEmpty && watchers.isEmpty else { return (removed, .none) }
            watchers.note(nil)
            defer { state.following = next }
            return (removed, state.following)
        }
        if case .active(let operation, let timer) = before {
            timer.cancel()
            operation.cancel()
        }
        return removed
    }

    private func decide(_ deciding: (inout PublisherSelection) -> Void) {
        let publications = state.withLock { state -> [RelayedPublication] in
            guard case .active = state.following else { return [] }
            let before = state.selection
            deciding(&state.selection)
            let selection = state.selection
            guard selection.choice != before.choice || selection.avahiHost != before.avahiHost else { return [] }
            // Under the lock, so that no state overtakes another.
            if let now = Self.engineState(selection.choice) { watchers.note(now) }
            return state.publications.sorted { $0.key < $1.key }.map(\.value)
        }
        watchers.tell()
        for publication in publications { publication.follow() }
    }

    private static func engineState(_ choice: PublisherSelection.Choice) -> EngineState? {
        switch choice {
        case .open: nil
        case .publisher: .up
        case .nobody(let reason): .down(reason)
        }
    }
}
