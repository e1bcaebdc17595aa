import CLinux
import Libc

/// Wakes a thread that polls (eventfd(2)); closed with the last reference.
package final class WakeUp: Sendable {
    /// Readable from `signal` until `clear`; -1 if the system had none.
    package let descriptor: Int32

    package init() { descriptor = clinux_eventfd(0, false) }

    /// Counts: readable while signals are left; `clear` takes one.
    package init(signals: UInt32) { descriptor = clinux_eventfd(signals, true) }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Wakes the thread. Callable from any thread.
    package func signal() { eventfd_write(descriptor, 1) }

    package func clear() {
        var count: eventfd_t = 0
        unsafe eventfd_read(descriptor, &count)
    }
}
