/// One deadline of a loop. Touched by the loop's thread only.
///
/// The loop keeps it while it has a deadline.
package final class LoopTimer {
    package unowned let loop: EventLoop
    package var deadline: MonotonicTime? { didSet { if deadline != oldValue { loop.changed(self) } } }
    /// Its index in the loop's heap; maintained by the heap.
    var place: Int?
    package var fire: () -> Void = {}

    /// Creates a timer without a deadline.
    package init(loop: EventLoop, _ fire: @escaping () -> Void = {}) {
        self.loop = loop
        self.fire = fire
    }

    package func set(after delay: Duration) { deadline = MonotonicTime.now + delay }

    /// Never fires again.
    package func free() {
        deadline = nil
        fire = {}
    }
}
