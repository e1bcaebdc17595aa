import Libc

/// A file descriptor that a loop polls until `free`. The owner closes it. Used only on the loop's thread.
///
/// The loop keeps the watch until then.
package final class LoopWatch {
    package unowned let loop: EventLoop
    package let descriptor: Int32
    /// The events to wait for, as in poll(2).
    package var events: Int16
    /// What the last poll found.
    package internal(set) var returned: Int16 = 0
    private(set) var isAlive = true
    private let ready: (LoopWatch) -> Void

    package init(
        loop: EventLoop, descriptor: Int32, events: Int16 = Int16(POLLIN), ready: @escaping (LoopWatch) -> Void
    ) {
        self.loop = loop
        self.descriptor = descriptor
        self.events = events
        self.ready = ready
        loop.add(self)
    }

    /// Stops reports, including the current turn's.
    package func free() {
        isAlive = false
        loop.remove(self)
    }

    func fire() { ready(self) }
}
