import Foundation
import Synchronization

/// Labs of two hosts, started in advance because a start waits a second for avahi-daemon's probes. Each lab is handed out only once:
/// cleaning up a used one would cost more than a new start.
final class LabPool: Sendable {
    static let shared = LabPool()

    /// How many spare labs to keep; none unless `LAB_SPARES` is set, as when a single test runs.
    private let spares = ProcessInfo.processInfo.environment["LAB_SPARES"].flatMap(Int.init) ?? 0
    private let ready = Mutex<[Task<Lab, any Error>]>([])

    /// Takes the lab that was started first.
    func take() async throws -> Lab {
        let lab = ready.withLock { ready in
            while ready.count <= spares { ready.append(Self.begin()) }
            return ready.removeFirst()
        }
        return try await lab.value
    }

    private static func begin() -> Task<Lab, any Error> {
        // Detached: a lab started for the next test must not end with this one.
        Task.detached { try await Lab.start([], environment: [:]) }
    }
}
