internal import DNSSD
internal import Discovery
internal import Synchronization

/// Watches for the backend beside a call that does not tell of it, and ends the command when none answers.
final class BackendProbe: Sendable {
    private let lastReason = Mutex<String?>(nil)
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Starts watching; the query is the one the call makes, so that it costs nothing more.
    init(_ session: Session, instance: ServiceInstance, interfaces: InterfaceFilter, family: IPAddress.Family?) {
        let events = session.network.browse(
            ServiceQuery(.instance(instance), interfaces: interfaces, family: family, resolution: .watch)
        )
        let timer = session.stop.request(.noBackend, after: Session.backendPatience)
        task.withLock {
            $0 = Task {
                // An error of the query is the call's to report.
                _ = try? await self.watch(events)
                timer.cancel()
            }
        }
    }

    /// Why the backend does not answer, as far as is known.
    var reason: String? { lastReason.withLock { $0 } }

    /// Stops watching.
    func end() { task.withLock { $0?.cancel() } }

    private func watch(_ events: ServiceEvents) async throws {
        for try await event in events {
            guard case .backend(.unavailable(let reason)) = event else { return }
            lastReason.withLock { $0 = reason }
        }
    }
}
