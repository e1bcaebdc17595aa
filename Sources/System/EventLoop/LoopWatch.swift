import Glibc

/// A file descriptor that a loop polls until `free`; it stays its owner's to close. Touched by the loop's thread only.
///
/// The loop keeps it until then.
package final class LoopWatch {
    package unowned let loop: EventLoop
    package let descriptor: Int32
    /// What is waited for, as in poll(2).
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

    /// Never reports again, also not what this turn's poll found.
    package func free() {
        isAlive = false
        loop.remove(self)
    }

    func fire() { ready(self) }
}
