import CLinux
import Libc

/// One deadline of a loop, by the clock that goes on while the machine sleeps. A deadline that passes during sleep
/// fires on waking; a `LoopTimer` would still wait. Used only on the loop's thread.
package final class BootTimer {
    package var fire: () -> Void = {}
    private let descriptor: Int32
    private var watch: LoopWatch?

    /// Creates a timer without a deadline; nil if no descriptor is left.
    package init?(loop: EventLoop) {
        descriptor = cmulticast_timer()
        guard descriptor >= 0 else { return nil }
        watch = LoopWatch(loop: loop, descriptor: descriptor) { [weak self] watch in
            // The deadline may have moved since.
            guard cmulticast_timer_has_fired(watch.descriptor) else { return }
            self?.fire()
        }
    }

    deinit {
        watch?.free()
        if descriptor >= 0 { close(descriptor) }
    }

    /// Fires once at a time of `BootTime`, or at once if that has passed; nil for never.
    package func set(_ deadline: Duration?) {
        guard let deadline else { return cmulticast_set_timer(descriptor, 0, 0) }
        // Zero would mean never.
        let left = min(max(deadline - BootTime.now, .nanoseconds(1)), .seconds(1 << 31)).components
        cmulticast_set_timer(descriptor, left.seconds, max(1, left.attoseconds / 1_000_000_000))
    }

    /// Stops the timer for good.
    package func free() {
        watch?.free()
        watch = nil
        fire = {}
    }
}
