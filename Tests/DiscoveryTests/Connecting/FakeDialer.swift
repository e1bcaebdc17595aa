import DNSSD
import Discovery
import DiscoverySystem

/// Dials nothing: every endpoint behaves as the test says.
final class FakeDialer: Dialer {
    enum Behaviour {
        case answers
        case refuses
        /// Hangs until the test lets it answer, or the attempt is cancelled.
        case hangs
        /// Like `hangs`, but ignores cancellation.
        case hangsOn
    }

    private struct State {
        var behaviour: [IPAddress: Behaviour] = [:]
        var dialled: [String] = []
        var open: [String] = []
        var closed: [String] = []
        var hanging: [IPAddress: CheckedContinuation<Bool, Never>] = [:]
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    func set(_ address: IPAddress, _ behaviour: Behaviour) { state.withLock { $0.behaviour[address] = behaviour } }

    /// The dialled addresses, in order.
    var dialled: [String] { state.withLock { $0.dialled } }
    /// Connections that were never closed.
    var open: [String] { state.withLock { $0.open } }
    var closed: [String] { state.withLock { $0.closed } }

    /// Waits until `count` dials have begun.
    func dialled(atLeast count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                guard state.dialled.count < count else { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }

    /// Lets a hanging dial succeed.
    func answer(_ address: IPAddress) {
        state.withLock { $0.hanging.removeValue(forKey: address) }?.resume(returning: true)
    }

    func dial(_ endpoint: Endpoint) async throws -> String {
        let (address, name) = (endpoint.address, endpoint.address.description)
        let behaviour = state.withLock { $0.behaviour[address] ?? .answers }
        switch behaviour {
        case .answers: note(name)
        case .refuses:
            note(name)
            throw DialFailure(.refused, "connection refused")
        case .hangs, .hangsOn:
            let hasAnswered = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    state.withLock { $0.hanging[address] = continuation }
                    note(name)
                    if Task.isCancelled, behaviour == .hangs { cancel(address) }
                }
            } onCancel: {
                if behaviour == .hangs { cancel(address) }
            }
            if !hasAnswered { throw CancellationError() }
        }
        state.withLock { $0.open.append(name) }
        return name
    }

    func close(_ connection: String) async {
        state.withLock { state in
            state.closed.append(connection)
            state.open.removeAll { $0 == connection }
        }
    }

    private func cancel(_ address: IPAddress) {
        state.withLock { $0.hanging.removeValue(forKey: address) }?.resume(returning: false)
    }

    private func note(_ name: String) {
        let reached = state.withLock { state in
            state.dialled.append(name)
            let count = state.dialled.count
            defer { state.watchers.removeAll { $0.count <= count } }
            return state.watchers.filter { $0.count <= count }.map(\.continuation)
        }
        for watcher in reached { watcher.resume() }
    }
}
