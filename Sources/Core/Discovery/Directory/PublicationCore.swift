import DNSSD
import DiscoveryPOSIX

/// The state that a `Publication` and its watchers share: the newest status, the tasks waiting for the next, and the
/// engine's operation.
final class PublicationCore: Sendable {
    /// Publishes a service on the engine.
    typealias Open =
        @Sendable (OfferedService, _ report: @escaping @Sendable (PublicationFact) -> Void) -> any PublicationOperation

    private struct State {
        var service: OfferedService
        var status: PublicationStatus
        /// Tasks waiting for the next status.
        var waiters = Waiters()
        var operation: (any PublicationOperation)?
        /// Nothing is published any more.
        var isCancelled = false
        /// The newest change of port or TXT record; each waits for the one before.
        var change: Task<Void, Never>?
        /// The port that was last given to the engine.
        var announced: Port
        var onEnd: FollowUp?
        var open: Open?
    }

    let time: any TimeSource
    private let observer: (any DiscoveryObserver)?
    private let state: Locked<State>

    init(service: OfferedService, time: any TimeSource, observer: (any DiscoveryObserver)? = nil) {
        self.time = time
        self.observer = observer
        let status = PublicationStatus(wanted: service.name, since: time.now)
        state = Locked(State(service: service, status: status, announced: service.port))
    }

    var service: OfferedService { state.withLock { $0.service } }

    var status: PublicationStatus { state.withLock { $0.status } }

    func whenEnded(_ action: @escaping FollowUp) { state.withLock { $0.onEnd = action } }

    /// Publishes, and keeps `open` to publish again.
    func start(_ open: @escaping Open) {
        state.withLock { $0.open = open }
        publish(open)
    }

    private func publish(_ open: Open) {
        let service = state.withLock { state in
            state.announced = state.service.port
            return state.service
        }
        let operation = open(service) { [weak self] fact in self?.reported(fact) }
        let isCancelled = state.withLock { state in
            state.operation = operation
            return state.isCancelled || state.status.state.isFinal
        }
        if isCancelled { operation.cancel() }
    }

    /// - Parameter port: nil for the one it has.
    /// - Returns: whether the change was taken.
    func update(port: Port? = nil, txt: TXTRecord) async -> Bool {
        guard (try? txt.check()) != nil else { return false }
        let (change, isTaken) = state.withLock { state -> (Task<Void, Never>?, Bool) in
            guard !state.status.state.isFinal, !state.isCancelled else { return (nil, false) }
            var service = state.service
            (service.port, service.txt) = (port ?? service.port, txt)
            guard state.service != service else { return (nil, true) }
            state.service = service
            let earlier = state.change
            // In a separate task, so that cancelling the caller cannot stop it halfway and leave the service withdrawn.
            let change = Task { [service] in
                await earlier?.value
                await announce(service)
            }
            state.change = change
            return (change, true)
        }
        await change?.value
        return isTaken
    }

    private func announce(_ service: OfferedService) async {
        let (operation, open, hasPort) = state.withLock { state in
            // A newer service is announced by a later change.
            guard !state.isCancelled, state.service == service else {
                return (nil as (any PublicationOperation)?, nil as Open?, true)
            }
            defer { state.announced = service.port }
            return (state.operation, state.open, state.announced == service.port)
        }
        guard let operation, let open else { return }
        guard !(hasPort ? operation.update(txt: service.txt) : operation.update(port: service.port, txt: service.txt))
        else { return }
        await operation.cancel(waitingAtMost: .seconds(2))
        guard !state.withLock({ $0.isCancelled || $0.status.state.isFinal }) else { return }
        publish(open)
    }

    func reported(_ fact: PublicationFact) { update { $0.reported(fact, now: $1) } }

    func withdrawn() { update { $0.withdrawn(now: $1) } }

    /// Ends the operation without waiting: the safety net for an owner that did not withdraw.
    func abandon() {
        let operation = state.withLock { state in
            state.isCancelled = true
            return state.operation
        }
        operation?.cancel()
        withdrawn()
    }

    func withdraw(waitingAtMost limit: Duration) async -> Bool {
        let (operation, change) = state.withLock { state in
            state.isCancelled = true
            return (state.operation, state.change)
        }
        guard let operation, !status.state.isFinal else { return true }
        // In a separate task, so that the goodbye is sent even if the caller's task is cancelled.
        let isDone = await Task {
            guard await operation.cancel(waitingAtMost: limit) else { return false }
            // A change may have been publishing the service again.
            await change?.value
            guard let last = state.withLock({ $0.operation }), last !== operation else { return true }
            return await last.cancel(waitingAtMost: limit)
        }.value
        withdrawn()
        return isDone
    }

    /// Returns the newest status, waiting until there is one newer than `version`. Nil if the task is cancelled or the
    /// last status was returned before.
    func next(after version: UInt64) async -> (status: PublicationStatus, version: UInt64)? {
        while !Task.isCancelled {
            let (status, current) = state.withLock { ($0.status, $0.waiters.version) }
            if current > version { return (status, current) }
            guard !status.state.isFinal else { return nil }
            await state.wait(for: \.waiters, after: version)
        }
        return nil
    }

    private func update(_ body: (inout PublicationStatus, _ now: Duration) -> Bool) {
        let (wake, onEnd, news) = state.withLock { state -> (FollowUp?, FollowUp?, FollowUp?) in
            guard body(&state.status, time.now) else { return (nil, nil, nil) }
            let news = observer.map { observer -> FollowUp in
                let (service, status) = (state.service, state.status)
                return { observer.observed(.publication(service, status)) }
            }
            let wake = state.waiters.changed()
            guard state.status.state.isFinal else { return (wake, nil, news) }
            defer { state.onEnd = nil }
            return (wake, state.onEnd, news)
        }
        news?()
        wake?()
        onEnd?()
    }
}
