/// A value that belongs to a loop's thread, held by other threads.
///
/// `@unchecked Sendable` holds since `value` is private and only work on that thread gets it. Elsewhere it is only copied and released,
/// perhaps for the last time: then it has nothing left to do, like a core that has ended or a closure that holds weakly.
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
