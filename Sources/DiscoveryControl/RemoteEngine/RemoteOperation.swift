internal import Discovery

/// A query that the daemon answers; ending it closes its stream.
final class RemoteOperation: EngineOperation {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    func cancel() { end() }

    func cancel(waitingAtMost limit: Duration) async -> Bool {
        end()
        return true
    }
}
