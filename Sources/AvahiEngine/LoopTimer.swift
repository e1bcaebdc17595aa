import CAvahi

/// One deadline of the loop: Avahi's or the engine's. Touched by the loop's thread only.
@safe final class LoopTimer {
    unowned let loop: AvahiLoop
    var deadline: MonotonicTime?
    var isAlive = true
    var fire: () -> Void = {}

    init(loop: AvahiLoop) {
        self.loop = loop
        loop.add(self)
    }

    /// A timer of the engine's own, which is off until it is set.
    convenience init(loop: AvahiLoop, _ fire: @escaping () -> Void) {
        self.init(loop: loop)
        self.fire = fire
    }

    func set(after delay: Duration) { deadline = MonotonicTime.now + delay }

    func free() {
        loop.remove(self)
        fire = {}
    }
}
