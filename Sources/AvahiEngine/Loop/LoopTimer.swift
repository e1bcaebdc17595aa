import CAvahi

/// One deadline of the loop: Avahi's or the engine's. Touched by the loop's thread only.
///
/// The loop keeps it while it has a deadline.
@safe final class LoopTimer {
    unowned let loop: AvahiLoop
    var deadline: MonotonicTime? { didSet { if deadline != oldValue { loop.changed(self) } } }
    /// Where it is in the loop's heap; the heap's own.
    var place: Int?
    var fire: () -> Void = {}

    init(loop: AvahiLoop) { self.loop = loop }

    /// A timer for the engine, off until it is set.
    convenience init(loop: AvahiLoop, _ fire: @escaping () -> Void) {
        self.init(loop: loop)
        self.fire = fire
    }

    func set(after delay: Duration) { deadline = MonotonicTime.now + delay }

    func free() {
        deadline = nil
        fire = {}
    }
}
