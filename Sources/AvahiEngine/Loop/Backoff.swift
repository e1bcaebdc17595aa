import System

/// Starts something again after it failed: after 1, 2, 4 … 60 s. Touched by the loop's thread only.
final class Backoff {
    private let timer: LoopTimer
    private var delay = Duration.seconds(1)

    init(loop: EventLoop) { timer = LoopTimer(loop: loop) }

    func schedule(_ action: @escaping () -> Void) {
        timer.fire = action
        timer.set(after: delay)
        delay = min(delay * 2, .seconds(60))
    }

    /// It works: the next failure is a new one.
    func succeeded() { delay = .seconds(1) }

    func cancel() { timer.deadline = nil }

    func free() { timer.free() }
}
