internal import DiscoveryControl
internal import DiscoverySystem
internal import Libc

/// Ends a thread that waits.
package final class StopBell: Sendable {
    let bell = WakeUp()
    private let state = Locked(false)

    package init() {}

    var isRung: Bool { state.withLock { $0 } }

    package func ring() {
        state.withLock { $0 = true }
        bell.signal()
    }

    /// Waits, or until it is rung.
    package func wait(_ duration: Duration) {
        var item = pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&item, 1, Deadline(in: duration).milliseconds)
    }
}
