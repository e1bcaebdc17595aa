/// A value of a loop's thread that other threads may hold.
///
/// `@unchecked Sendable` holds since `value` is private and only work on that thread gets it. Other threads only copy
/// and release it. If theirs is the last reference, the value has nothing left to do, like a core that has ended or a
/// closure that captures weakly.
package struct LoopBound<Value>: @unchecked Sendable {
    private let loop: EventLoop
    private let value: Value

    package init(to loop: EventLoop, _ value: Value) {
        self.loop = loop
        self.value = value
    }

    /// Runs `body` on the loop's thread, after everything that was posted before.
    package func post(_ body: @escaping @Sendable (Value) -> Void) { loop.post { body(value) } }
}
