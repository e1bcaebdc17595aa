internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import DiscoverySystem

/// A publication that the daemon keeps while its connection is open. If the daemon has no connection left, another
/// engine publishes instead.
final class RemotePublication: EngineOperation {
    private struct State {
        var facts: RemotePublicationFacts
        var instead: (any EngineOperation)?
    }

    private let path: String
    private let state: Locked<State>
    private let stream: RemoteStream

    /// - Parameter instead: publishes on another engine; nil if there is none.
    init(
        _ pulse: Pulse,
        _ request: RegistrationRequest,
        isPersistent: Bool = false,
        instead: @escaping @Sendable () -> (any EngineOperation)? = { nil },
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) {
        path = pulse.path
        let facts = RemotePublicationFacts(request.service.name, isPersistent: isPersistent)
        let state = Locked(State(facts: facts))
        self.state = state
        var writer = JSONWriter()
        writer.request(request)
        // The response ends when the service is withdrawn; another request would publish it again.
        let isWanted: @Sendable () -> Bool = { state.withLock { !$0.facts.isOver } }
        stream = RemoteStream(
            pulse,
            ControlClient.Request("POST", "/v1/registrations?attached=1", body: writer.bytes),
            staysWhenItHangs: true,
            isWanted: isWanted
        ) { event in
            if case .refused(let error) = event, error.isBusy, let operation = instead() {
                let isOver = state.withLock { state in
                    defer { (state.facts.isOver, state.instead) = (true, operation) }
                    return state.facts.isOver
                }
                return isOver ? operation.cancel() : ()
            }
            for fact in state.withLock({ $0.facts.received(event) }) { reporting(fact) }
        }
    }

    func start() { stream.start() }

    func cancel() {
        let instead = state.withLock { state in
            state.facts.isOver = true
            return state.instead
        }
        // The daemon withdraws a service when its client disconnects.
        stream.cancel()
        instead?.cancel()
    }

    func cancel(waitingAtMost limit: Duration) async -> Bool {
        let (id, instead) = state.withLock { state in
            state.facts.isOver = true
            defer { state.facts.id = nil }
            return (state.facts.id, state.instead)
        }
        defer { stream.cancel() }
        if let instead { return await instead.cancel(waitingAtMost: limit) }
        guard let id else { return true }
        do throws(ControlError) {
            let request = ControlClient.Request("DELETE", "/v1/registrations/\(QueryString.encode(id))")
            _ = try await ControlClient(path: path).send(request, within: limit)
            return true
        } catch {
            // It is already withdrawn.
            return error.status == 404
        }
    }
}
