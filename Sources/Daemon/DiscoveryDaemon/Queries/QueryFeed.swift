package import DNSSD
package import Discovery
internal import DiscoveryJSON
internal import DiscoverySystem

/// One open query with its results and changes: many may read it, each at its own pace.
package final class QueryFeed: Listener {
    private struct State {
        var log = ChangeLog<DiscoveredService>()
        var waiters = Waiters()
        var membership: Membership?
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
            let version: JSONVersion
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

    /// Follows a query until `close`: a feed outlives the request that opened it.
    package func follow(_ join: (QueryFeed) -> Membership) {
        let membership = join(self)
        let isClosed = state.withLock { state in
            state.membership = membership
            return state.isClosed
        }
        if isClosed { membership.leave() }
    }

    package func receive(_ changes: [Change<DiscoveredService>], now: Duration) -> FollowUp? {
        let now = ContinuousClock.now
        var notice: String?
        for case .degraded(let text) in changes { notice = text }
        let wake = state.withLock { state in
            for change in changes {
                state.log.apply(change)
                switch change {
                case .found(let service), .changed(let service):
                    if state.found[service.instance] == nil {
                        state.found[service.instance] = Sighting(time: now, isArrival: state.log.isSettled)
                    }
                case .lost(let service): state.found[service.instance] = nil
                case .settled, .backend, .degraded: break
                }
            }
            return state.waiters.changed()
        }
        guard let notice else { return wake }
        return { [weak self] in
            self?.note(notice)
            wake()
        }
    }

    /// Takes changes in and resumes waiting readers.
    package func apply(_ changes: [Change<DiscoveredService>]) { receive(changes, now: .zero)?() }

    /// The network was shut down: what is known stays.
    package func shutDown() -> FollowUp? { nil }

    /// Whether a notice is among the engine's troubles, which show when it is over. Asked without the lock.
    private func note(_ notice: String) {
        let isTrouble = troubles().contains(notice)
        state.withLock { if $0.log.degraded?.text == notice { $0.isTroubleOfEngine = isTrouble } }
    }

    /// Ends the query; readers get nothing more.
    package func close() {
        let (membership, wake) = state.withLock { state in
            state.isClosed = true
            return (state.membership, state.waiters.changed())
        }
        membership?.leave()
        wake()
    }

    /// The present services, in the order found.
    package var services: [DiscoveredService] { state.withLock { $0.log.values } }
    /// When each of them was found.
    var found: [ServiceInstance: Sighting] { state.withLock { $0.found } }
    /// How many there are.
    package var count: Int { state.withLock { $0.log.count } }
    /// Everything known at the start has been found.
    package var isSettled: Bool { state.withLock { $0.log.isSettled } }

    /// What was left out, as long as it is.
    package var degraded: String? {
        endDegraded()
        return state.withLock { $0.log.degraded?.text }
    }

    /// Stops reporting an engine's trouble once it is over. The engine is asked without the lock.
    private func endDegraded() {
        let told = state.withLock { $0.isTroubleOfEngine ? $0.log.degraded : nil }
        guard let told, !troubles().contains(told.text) else { return }
        state.withLock { if $0.log.degraded?.number == told.number { $0.log.endDegraded() } }
    }

    /// The state apart from the services.
    var news: (isSettled: Bool, backend: BackendState, degraded: String?) {
        endDegraded()
        return state.withLock { ($0.log.isSettled, $0.log.backend, $0.log.degraded?.text) }
    }

    /// The present services and the state.
    var snapshot: Snapshot {
        endDegraded()
        return state.withLock { state in
            let log = state.log
            return Snapshot(
                services: log.values, isSettled: log.isSettled, backend: log.backend, degraded: log.degraded?.text,
                head: log.head)
        }
    }

    /// The answer of a kind, if nothing has changed since it was made.
    func kept(_ kind: Kept.Kind) -> [UInt8]? {
        endDegraded()
        return state.withLock { state in
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
        state.withLock { state in state.log.contains { $0.instance.name == name } }
    }

    /// Whether a reader can go on from a cursor.
    package func remembers(_ cursor: Cursor) -> Bool {
        state.withLock { state in
            cursor.number <= state.log.head
                && state.log.changes(after: cursor.number, base: cursor.base, atMost: 1) != nil
        }
    }

    /// Waits for changes that a reader has not seen.
    /// - Returns: up to `limit` changes; nil when the task is cancelled or the feed closed. `missed` when it cannot go on.
    package func next(
        _ reader: inout LogReader,
        atMost limit: Int
    ) async throws(Missed) -> [(number: UInt64, change: Change<DiscoveredService>)]? {
        while !Task.isCancelled {
            endDegraded()
            // Under the lock: a surviving copy of the log would force a full copy at the next change.
            let (changes, version, isClosed) = state.withLock { state in
                (reader.take(from: state.log, atMost: limit), state.waiters.version, state.isClosed)
            }
            guard let changes else { throw Missed() }
            if !changes.isEmpty { return changes }
            if isClosed { return nil }
            await state.wait(for: \.waiters, after: version)
        }
        return nil
    }

    /// Waits, up to `limit`, until everything known at the start has been found.
    package func settled(within limit: Duration) async {
        if isSettled { return }
        await withTimeLimit(limit) { [self] in
            _ = await state.first(in: \.waiters) { $0.log.isSettled || $0.isClosed ? true : nil }
        }
    }

    /// A reader missed ends that are no longer known.
    package struct Missed: Error {}
}

/// The position of a `watch` reader: daemon run, query, last change, and where its catching up began.
package struct Cursor: Hashable, Sendable {
    /// Differs for each run of the daemon.
    package let epoch: UInt32
    /// Which query.
    package let feed: UInt64
    /// The number of the change.
    package let number: UInt64
    /// Up to where it has seen everything.
    package let base: UInt64
}

extension Cursor: CustomStringConvertible {
    /// Reads what `description` wrote; nil for everything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, let epoch = UInt32(parts[0], radix: 16), let feed = UInt64(parts[1]),
            let number = UInt64(parts[2]), let base = UInt64(parts[3]), base <= number
        else { return nil }
        self.init(epoch: epoch, feed: feed, number: number, base: base)
    }

    package var description: String { "\(String(epoch, radix: 16))-\(feed)-\(number)-\(base)" }
}
