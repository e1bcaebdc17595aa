package import DNSSD
package import Discovery
internal import DiscoveryJSON

/// One query that is held open, with what it found and what changed: many may read it, each at its own pace.
package final class ServiceFeed: Sendable {
    private struct State {
        var log = ChangeLog()
        var waiters = Waiters()
        var pump: Task<Void, Never>?
        var isClosed = false
        /// What was left out is among the engine's troubles, which say when it is over.
        var isTroubleOfEngine = false
        var kept: [Kept.Kind: Kept] = [:]
    }

    /// An answer that was made of what is there, which is the same as long as nothing changes.
    struct Kept: Sendable {
        struct Kind: Hashable, Sendable {
            let format: String
            let detail: ServiceDetail
        }

        let head: UInt64
        let bytes: [UInt8]
    }

    /// Everything at one time.
    struct Snapshot: Sendable {
        let services: [DiscoveredService]
        let isSettled: Bool
        let backend: BackendState
        let degraded: String?
        let head: UInt64
    }

    /// Distinguishes it from other feeds of this life of the daemon.
    package let id: UInt64
    private let state = Locked(State())

    private let troubles: @Sendable () -> [String]

    /// - Parameter troubles: what keeps the engine's answers from being complete now.
    package init(id: UInt64, troubles: @escaping @Sendable () -> [String] = { [] }) {
        self.id = id
        self.troubles = troubles
    }

    /// Follows `events` until `close`. In a task of its own: a feed outlives the request that it was made for.
    package func follow(_ events: ServiceEvents) {
        let pump = Task { [weak self] in
            var iterator = events.makeAsyncIterator()
            while let batch = try? await iterator.nextBatch(atMost: 512) { self?.apply(batch) }
        }
        state.withLock { $0.pump = pump }
    }

    /// Takes events in and wakes who waits.
    package func apply(_ events: [ServiceEvent]) {
        let wake = state.withLock { state in
            for event in events {
                state.log.apply(event)
                if case .degraded(let text) = event { state.isTroubleOfEngine = troubles().contains(text) }
            }
            return state.waiters.changed()
        }
        wake()
    }

    /// Gives the query up; readers are told nothing more.
    package func close() {
        let (pump, wake) = state.withLock { state in
            state.isClosed = true
            return (state.pump, state.waiters.changed())
        }
        pump?.cancel()
        wake()
    }

    /// The services that are there, in the order they were found.
    package var services: [DiscoveredService] { state.withLock { $0.log.services } }
    /// How many there are.
    package var count: Int { state.withLock { $0.log.count } }
    /// What was told last of the backend.
    package var backend: BackendState { state.withLock { $0.log.backend } }
    /// Everything known at the start is there.
    package var isSettled: Bool { state.withLock { $0.log.isSettled } }

    /// What was left out, as long as it is.
    package var degraded: String? {
        state.withLock { state in
            endDegraded(&state)
            return state.log.degraded?.text
        }
    }

    /// A trouble of the engine that is over is not told any more.
    private func endDegraded(_ state: inout State) {
        guard let told = state.log.degraded, state.isTroubleOfEngine, !troubles().contains(told.text) else { return }
        state.log.endDegraded()
    }

    /// What was told beside the services.
    var news: (isSettled: Bool, backend: BackendState, degraded: String?) {
        state.withLock { state in
            endDegraded(&state)
            return (state.log.isSettled, state.log.backend, state.log.degraded?.text)
        }
    }

    /// What is there, and what was told beside it.
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

    /// Keeps an answer, one of each kind that was made since the last change.
    func keep(_ bytes: [UInt8], _ kind: Kept.Kind, asOf head: UInt64) {
        state.withLock { state in
            state.kept = state.kept.filter { $0.value.head == head }
            state.kept[kind] = Kept(head: head, bytes: bytes)
        }
    }

    /// Gives back the memory of an answer that was kept.
    package func forgetKept() { state.withLock { $0.kept = [:] } }

    /// Whether a service of this name is there.
    package func has(_ name: ServiceName) -> Bool {
        state.withLock { state in state.log.services.contains { $0.instance.name == name } }
    }

    /// Whether a reader that was told everything up to a number can go on from there.
    package func remembers(_ cursor: Cursor) -> Bool {
        state.withLock { state in
            cursor.number <= state.log.head
                && state.log.changes(after: cursor.number, base: cursor.base, atMost: 1) != nil
        }
    }

    /// Waits for something to tell a reader.
    /// - Returns: up to `limit` events; nil when the task is cancelled or the feed closed. `missed` when it cannot go on.
    package func next(
        _ reader: inout LogReader,
        atMost limit: Int
    ) async throws(Missed) -> [(number: UInt64, event: ServiceEvent)]? {
        while !Task.isCancelled {
            // Under the lock: a copy of the log that lives on would be copied in full at the next change.
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

    /// Waits until everything known at the start is there, `limit` at most.
    package func settled(within limit: Duration) async {
        if isSettled { return }
        // In the second task the wait ends when the first has ended it.
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    let (isSettled, version, isClosed) = self.state.withLock {
                        ($0.log.isSettled, $0.waiters.version, $0.isClosed)
                    }
                    if isSettled || isClosed { return }
                    await self.state.wait(for: \.waiters, after: version)
                }
            }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// A reader missed ends that are not known any more.
    package struct Missed: Error {}
}
