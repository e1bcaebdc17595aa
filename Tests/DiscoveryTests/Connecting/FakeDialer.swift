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
        var lastID = 0
        var hanging: [Int: (address: IPAddress, continuation: CheckedContinuation<Bool, Never>)] = [:]
        var watchers: [Int: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]

        mutating func nextID() -> Int {
            lastID += 1
            return lastID
        }
    }

    private let state = Locked(State())

    func set(_ address: IPAddress, _ behaviour: Behaviour) { state.withLock { $0.behaviour[address] = behaviour } }

    /// The dialled addresses, in order.
    var dialled: [String] { state.withLock { $0.dialled } }
    /// Connections that were never closed.
    var open: [String] { state.withLock { $0.open } }
    var closed: [String] { state.withLock { $0.closed } }

    /// Waits until `count` dials have begun, or the test is over its time limit.
    func dialled(atLeast count: Int) async {
        let id = state.withLock { $0.nextID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.dialled.count < count, !Task.isCancelled else { return true }
                    state.watchers[id] = (count, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.watchers.removeValue(forKey: id) }?.continuation.resume()
        }
    }

    /// Lets what hangs at an address succeed.
    func answer(_ address: IPAddress) {
        let hanging = state.withLock { state in
            let hanging = state.hanging.filter { $0.value.address == address }
            for id in hanging.keys { state.hanging[id] = nil }
            return hanging.values
        }
        for dial in hanging { dial.continuation.resume(returning: true) }
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
            let id = state.withLock { $0.nextID() }
            let hasAnswered = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    state.withLock { $0.hanging[id] = (address, continuation) }
                    note(name)
                    if Task.isCancelled, behaviour == .hangs { cancel(id) }
                }
            } onCancel: {
                if behaviour == .hangs { cancel(id) }
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

    private func cancel(_ id: Int) {
        state.withLock { $0.hanging.removeValue(forKey: id) }?.continuation.resume(returning: false)
    }

    private func note(_ name: String) {
        let reached = state.withLock { state in
            state.dialled.append(name)
            let reached = state.watchers.filter { $0.value.count <= state.dialled.count }
            for id in reached.keys { state.watchers[id] = nil }
            return reached.values
        }
        for watcher in reached { watcher.continuation.resume() }
    }
}
