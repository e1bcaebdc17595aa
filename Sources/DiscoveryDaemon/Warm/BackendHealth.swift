package import DNSSD
internal import Discovery

/// Whether the daemon can do its work, and why not.
package final class BackendHealth: Sendable {
    private struct State {
        var backend: BackendState?
        var problems: [String: String] = [:]
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let locked = Locked(State())

    package init() {}

    /// What was told last of the backend; nil: nothing yet.
    package var state: BackendState? { locked.withLock { $0.backend } }

    /// Why the daemon is degraded; empty when it is not.
    package var reasons: [String] {
        locked.withLock { state in
            let backend = state.backend.map { $0.awayReason.map { ["the backend is away: \($0)"] } ?? [] }
            return (backend ?? ["the backend has not answered yet"])
                + state.problems.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    package func became(_ backend: BackendState) {
        let waiters = locked.withLock { state in
            state.backend = backend
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Lets those go on who wait in `known`, though nothing is known.
    package func stopWaiting() {
        let waiters = locked.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Notes a problem of a kind, or that there is none any more.
    package func note(_ kind: String, _ problem: String?) { locked.withLock { $0.problems[kind] = problem } }

    /// Waits until something is known of the backend.
    package func known() async {
        await withCheckedContinuation { continuation in
            let isKnown = locked.withLock { state in
                if state.backend == nil { state.waiters.append(continuation) }
                return state.backend != nil
            }
            if isKnown { continuation.resume() }
        }
    }
}

extension BackendState {
    fileprivate var awayReason: String? {
        switch self {
        case .available, .recovered: nil
        case .unavailable(let reason), .lost(let reason): reason
        }
    }
}
