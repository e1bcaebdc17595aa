import CLinux
import Glibc

/// Wakes a thread that polls (eventfd(2)); closed with the last reference.
package final class WakeUp: Sendable {
    /// Readable after `signal`, until `clear`; -1 when the system had none.
    package let descriptor: Int32

    package init() { descriptor = clinux_eventfd(0, false) }

    /// One that counts: readable while there are signals, of which there are some from the beginning and `clear` takes one.
    package init(signals: UInt32) { descriptor = clinux_eventfd(signals, true) }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// From any thread.
    package func signal() { eventfd_write(descriptor, 1) }

    package func clear() {
        var count: eventfd_t = 0
        unsafe eventfd_read(descriptor, &count)
    }
}
