package import DNSSD
package import Discovery
internal import DiscoveryJSON
internal import DiscoverySystem

/// One open query with its results and changes: many may read it, each at its own pace.
package final class QueryFeed: Sendable {
    private struct State {
        var log = ChangeLog()
        var waiters = Waiters()
        var pump: Task<Void, Never>?
        var isClosed = false
        /// The last notice is among the engine's troubles, which show when it is over.
        var isTroubleOfEngine = false
        var kept: [Kept.Kind: Kept] = [:]
        /// When each present service was found.
        var found: [ServiceInstance: Sighting] = [:]
    }

    /// When a service was first seen.
    struct Sighting {
        var time: ContinuousClock.Instant
        /// It came then: it was not among what was there at the start.
        var isArrival: Bool
    }

    /// A finished answer, valid until something changes.
    struct Kept: Sendable {
        struct Kind: Hashable, Sendable {
            let format: String
            let detail: ServiceDetail
        }

        let head: UInt64
        let bytes: [UInt8]
    }

    /// The state at one moment.
    struct Snapshot: Sendable {
        let services: [DiscoveredService]
        let isSettled: Bool
        let backend: BackendState
        let degraded: String?
        let head: UInt64
    }

    /// Distinguishes it from other feeds of this run of the daemon.
    package let id: UInt64
    private let state = Locked(State())

    private let troubles: @Sendable () -> [String]

    /// - Parameter troubles: what keeps the engine's answers from being complete now.
    package init(id: UInt64, troubles: @escaping @Sendable () -> [String] = { [] }) {
        self.id = id
        self.troubles = troubles
    }

    /// Follows `events` until `close`, in a separate task: a feed outlives the request that opened it.
    package func follow(_ events: ServiceEvents) {
        let pump = Task { [weak self] in
            var iterator = events.makeAsyncIterator()
            while let batch = try? await iterator.nextBatch(atMost: 512) { self?.apply(batch) }
        }
        state.withLock { $0.pump = pump }
    }

    /// Takes events in and resumes waiting readers.
    package func apply(_ events: [ServiceEvent]) {
        let now = ContinuousClock.now
        let wake = state.withLock { state in
            for event in events {
                state.log.apply(event)
                switch event {
                case .found(let service), .changed(let service):
                    if state.found[service.instance] == nil {
                        state.found[service.instance] = Sighting(time: now, isArrival: state.log.isSettled)
                    }
                case .lost(let service): state.found[service.instance] = nil
                case .settled, .backend, .degraded: break
                }
                if case .degraded(let text) = event { state.isTroubleOfEngine = troubles().contains(text) }
            }
            return state.waiters.changed()
        }
        wake()
    }

    /// Ends the query; readers get nothing more.
    package func close() {
        let (pump, wake) = state.withLock { state in
            state.isClosed = true
            return (state.pump, state.waiters.changed())
        }
        pump?.cancel()
        wake()
    }

    /// The present services, in the order found.
    package var services: [DiscoveredService] { state.withLock { $0.log.services } }
    /// When each of them was found.
    var found: [ServiceInstance: Sighting] { state.withLock { $0.found } }
    /// How many there are.
    package var count: Int { state.withLock { $0.log.count } }
    /// Everything known at the start has been found.
    package var isSettled: Bool { state.withLock { $0.log.isSettled } }

    /// What was left out, as long as it is.
    package var degraded: String? {
        state.withLock { state in
            endDegraded(&state)
            return state.log.degraded?.text
        }
    }

    /// Stops reporting an engine's trouble once it is over.
    private func endDegraded(_ state: inout State) {
        guard let told = state.log.degraded, state.isTroubleOfEngine, !troubles().contains(told.text) else { return }
        state.log.endDegraded()
    }

    /// The state apart from the services.
    var news: (isSettled: Bool, backend: BackendState, degraded: String?) {
        state.withLock { state in
            endDegraded(&state)
            return (state.log.isSettled, state.log.backend, state.log.degraded?.text)
        }
    }

    /// The present services and the state.
    var snapshot: Snapshot {
        state.withLock { state in
            endDegraded(&state)
            let log = state.log
            return Snapshot(
                services: log.services, isSettled: log.isSettled, backend: log.backend, degraded: log.degraded?.text,
                head: log.head)
        }
    }

    /// The answer of a kind, if nothing has changed since it was made.
    func kept(_ kind: Kept.Kind) -> [UInt8]? {
        state.withLock { state in
            endDegraded(&state)
            guard let kept = state.kept[kind], kept.head == state.log.head else { return nil }
            return kept.bytes
        }
    }

    /// Keeps an answer: one of each kind made since the last change.
    func keep(_ bytes: [UInt8], _ kind: Kept.Kind, asOf head: UInt64) {
        state.withLock { state in
            state.kept = state.kept.filter { $0.value.head == head }
            state.kept[kind] = Kept(head: head, bytes: bytes)
        }
    }

    /// Releases kept answers.
    package func forgetKept() { state.withLock { $0.kept = [:] } }

    /// Whether a service of this name is present.
    package func has(_ name: ServiceName) -> Bool {
        state.withLock { state in state.log.services.contains { $0.instance.name == name } }
    }

    /// Whether a reader can go on from a cursor.
    package func remembers(_ cursor: Cursor) -> Bool {
        state.withLock { state in
            cursor.number <= state.log.head
                && state.log.changes(after: cursor.number, base: cursor.base, atMost: 1) != nil
        }
    }

    /// Waits for events that a reader has not seen.
    /// - Returns: up to `limit` events; nil when the task is cancelled or the feed closed. `missed` when it cannot go on.
    package func next(
        _ reader: inout LogReader,
        atMost limit: Int
    ) async throws(Missed) -> [(number: UInt64, event: ServiceEvent)]? {
        while !Task.isCancelled {
            // Under the lock: a surviving copy of the log would force a full copy at the next change.
            let (events, version, isClosed) = state.withLock { state in
                endDegraded(&state)
                return (reader.take(from: state.log, atMost: limit), state.waiters.version, state.isClosed)
            }
            guard let events else { throw Missed() }
            if !events.isEmpty { return events }
            if isClosed { return nil }
            await state.wait(for: \.waiters, after: version)
        }
        return nil
    }

    /// Waits, up to `limit`, until everything known at the start has been found.
    package func settled(within limit: Duration) async {
        if isSettled { return }
        await withTimeLimit(limit) { [self] in
            while !Task.isCancelled {
                let (isSettled, version, isClosed) = state.withLock {
                    ($0.log.isSettled, $0.waiters.version, $0.isClosed)
                }
                if isSettled || isClosed { return }
                await state.wait(for: \.waiters, after: version)
            }
        }
    }

    /// A reader missed ends that are no longer known.
    package struct Missed: Error {}
}
