import CMulticast
import Glibc
package import System

/// One deadline of a loop by the clock that goes on while the machine sleeps: one that has passed by then fires as soon as it wakes, where a
/// `LoopTimer` would still have to wait. Touched by the loop's thread only.
package final class BootTimer {
    package var fire: () -> Void = {}
    private let descriptor: Int32
    private var watch: LoopWatch?

    /// Off until it is set; nil when no descriptor is left.
    package init?(loop: EventLoop) {
        descriptor = cmulticast_timer()
        guard descriptor >= 0 else { return nil }
        watch = LoopWatch(loop: loop, descriptor: descriptor) { [weak self] watch in
            // Set meanwhile for later.
            guard cmulticast_timer_has_fired(watch.descriptor) else { return }
            self?.fire()
        }
    }

    deinit {
        watch?.free()
        if descriptor >= 0 { close(descriptor) }
    }

    /// Fires once at a time of `BootTime`, at once when it has passed; nil: never.
    package func set(_ deadline: Duration?) {
        guard let deadline else { return cmulticast_set_timer(descriptor, 0, 0) }
        // Zero would be never.
        let left = min(max(deadline - BootTime.now, .nanoseconds(1)), .seconds(1 << 31)).components
        cmulticast_set_timer(descriptor, left.seconds, max(1, left.attoseconds / 1_000_000_000))
    }

    /// Never fires again.
    package func free() {
        watch?.free()
        watch = nil
        fire = {}
    }
}
