import DNSSD
import Synchronization

/// Collects the services that can be dialled, until the initial list is complete.
final class Found: Sendable {
    private struct State {
        var known: [ServiceInstance: DiscoveredService] = [:]
        var isSettled = false
        var absence: String?
    }
    private let state = Mutex(State())

    /// In no particular order.
    var services: [DiscoveredService] { state.withLock { Array($0.known.values) } }

    /// Why nothing can be found: the backend has never answered.
    var absence: String? { state.withLock { $0.absence } }

    /// - Returns: whether there is nothing left to wait for.
    func note(_ event: ServiceEvent) -> Bool {
        state.withLock { state in
            switch event {
            case .found(let service), .changed(let service):
                state.known[service.instance] = service.state == .resolved ? service : nil
            case .lost(let service): state.known[service.instance] = nil
            case .settled: state.isSettled = true
            case .backend(.unavailable(let reason)): state.absence = reason
            case .backend: state.absence = nil
            case .degraded: break
            }
            return state.isSettled && !state.known.isEmpty
        }
    }
}
