internal import Discovery

/// A query that the daemon answers: its stream, and the end of it.
final class RemoteOperation: EngineOperation {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    func cancel() { end() }

    func cancel(waitingAtMost limit: Duration) async -> Bool {
        end()
        return true
    }
}
