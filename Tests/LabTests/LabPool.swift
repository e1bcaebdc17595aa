import Foundation
import Synchronization

/// Labs of two hosts that are started before they are asked for: a start is a second of waiting for avahi-daemon's probes. Each is
/// handed out once, as clean as it was started; to clean a used one would cost more than a start.
final class LabPool: Sendable {
    static let shared = LabPool()

    /// How many wait to be handed out; none unless `LAB_SPARES` says so, as for one test that is run alone.
    private let spares = ProcessInfo.processInfo.environment["LAB_SPARES"].flatMap(Int.init) ?? 0
    private let ready = Mutex<[Task<Lab, any Error>]>([])

    /// The lab that was begun first.
    func take() async throws -> Lab {
        let lab = ready.withLock { ready in
            while ready.count <= spares { ready.append(Self.begin()) }
            return ready.removeFirst()
        }
        return try await lab.value
    }

    private static func begin() -> Task<Lab, any Error> {
        // What is started for the next test must not end with this one.
        Task.detached { try await Lab.start([], environment: [:]) }
    }
}
