import Discovery
import DiscoverySystem
import Foundation

/// Brings a connection's changes to a stream's run loop: a single look, however many changes there were.
final class StreamEvents: Sendable {
    let delivery = RunLoopDelivery()
    private let isOnItsWay = Locked(false)
    private let look: @Sendable () -> Void

    /// - Parameter look: called in the run loop.
    init(_ look: @escaping @Sendable () -> Void) { self.look = look }

    /// Call when something is new: the stream will look.
    var changed: @Sendable () -> Void {
        { [weak self] in self?.tell() }
    }

    private func tell() {
        let isFirst = isOnItsWay.withLock { isOnItsWay in
            defer { isOnItsWay = true }
            return !isOnItsWay
        }
        guard isFirst else { return }
        delivery.post { [weak self] in
            guard let self else { return }
            isOnItsWay.withLock { $0 = false }
            look()
        }
    }
}
