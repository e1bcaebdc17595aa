/// What belongs to a loop's thread, to be carried there by what is not of it.
///
/// `@unchecked Sendable` holds since `value` is private and given to nobody but work on that thread. Elsewhere it is only copied and let go,
/// by the last one perhaps: what is carried has nothing left to do then, as a core that has ended, or a closure that holds weakly.
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
