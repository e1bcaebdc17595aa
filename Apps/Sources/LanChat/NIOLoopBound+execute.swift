import NIOCore

extension NIOLoopBound {
    /// Uses the value on its loop, soon.
    func execute(_ body: @escaping @Sendable (Value) -> Void) {
        eventLoop.execute { body(self.value) }
    }
}
