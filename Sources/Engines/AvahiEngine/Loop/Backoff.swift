import DiscoverySystem

/// Restarts something that failed, after 1, 2, 4 … 60 s. Used only on the loop's thread.
final class Backoff {
    private let timer: LoopTimer
    private var delay = Duration.seconds(1)

    init(loop: EventLoop) { timer = LoopTimer(loop: loop) }

    func schedule(_ action: @escaping () -> Void) {
        timer.fire = action
        timer.set(after: delay)
        delay = min(delay * 2, .seconds(60))
    }

    /// Call on success: the next failure starts from 1 s again.
    func succeeded() { delay = .seconds(1) }

    func cancel() { timer.deadline = nil }

    func free() { timer.free() }
}
