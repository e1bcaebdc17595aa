import CLinux
import Glibc

/// Wakes a thread that polls (eventfd(2)); closed with the last reference.
package final class WakeUp: Sendable {
    /// Readable after `signal`, until `clear`.
    package let descriptor: Int32

    /// Nil when the system has no descriptor left.
    package init?() {
        descriptor = clinux_eventfd()
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// From any thread.
    package func signal() { eventfd_write(descriptor, 1) }

    package func clear() {
        var count: eventfd_t = 0
        unsafe eventfd_read(descriptor, &count)
    }
}
