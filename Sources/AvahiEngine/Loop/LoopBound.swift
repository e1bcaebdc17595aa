/// A value that belongs to a loop's thread, held by other threads.
///
/// `@unchecked Sendable` holds since `value` is private and only work on that thread gets it. Elsewhere it is only copied and released,
/// perhaps for the last time: then it has nothing left to do, like a core that has ended or a closure that holds weakly.
struct LoopBound<Value>: @unchecked Sendable {
    private let loop: AvahiLoop
    private let value: Value

    init(to loop: AvahiLoop, _ value: Value) {
        self.loop = loop
        self.value = value
    }

    /// Runs `body` on the loop's thread, after everything that was posted before.
    func post(_ body: @escaping @Sendable (Value) -> Void) { loop.post { body(value) } }
}
