internal import Discovery
internal import DiscoverySystem

/// A message to the daemon whose answer does not matter. Its end waits until it is sent.
final class RemoteMessage: EngineOperation {
    private let task: Task<Void, Never>

    init(_ request: ControlClient.Request, to path: String) {
        task = Task { _ = try? await ControlClient(path: path).send(request, within: .seconds(2)) }
    }

    func cancel() {}

    func cancel(waitingAtMost limit: Duration) async -> Bool {
        await withTimeLimit(limit) { [task] in await task.value }
        return true
    }

    /// Returns once the daemon has answered, or has not.
    func finish() async { await task.value }
}
