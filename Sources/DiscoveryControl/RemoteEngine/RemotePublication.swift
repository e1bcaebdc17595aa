internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import System

/// A publication that the daemon keeps while its connection is open. If the daemon has no connection left, another
/// engine publishes instead.
final class RemotePublication: EngineOperation {
    private struct State {
        var id: String?
        var last: PublicationFact?
        var isOver = false
        /// Retries if the backend refuses it.
        var isPersistent: Bool
        var instead: (any EngineOperation)?
    }

    private let path: String
    private let state: Locked<State>
    private let stream: RemoteStream

    /// - Parameter instead: publishes on another engine; nil if there is none.
    init(
        path: String,
        _ request: RegistrationRequest,
        isPersistent: Bool = false,
        instead: @escaping @Sendable () -> (any EngineOperation)? = { nil },
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) {
        self.path = path
        let state = Locked(State(isPersistent: isPersistent))
        self.state = state
        var writer = JSONWriter()
        writer.request(request)
        let wanted = request.service.name
        // The response ends when the service is withdrawn; another request would publish it again.
        let isWanted: @Sendable () -> Bool = { state.withLock { !$0.isOver } }
        stream = RemoteStream(
            path: path,
            ControlClient.Request("POST", "/v1/registrations?attached=1", body: writer.bytes),
            isWanted: isWanted
        ) { event in
            if case .refused(let error) = event, error.isBusy, let operation = instead() {
                let isOver = state.withLock { state in
                    defer { (state.isOver, state.instead) = (true, operation) }
                    return state.isOver
                }
                return isOver ? operation.cancel() : ()
            }
            let fact = state.withLock { state -> PublicationFact? in
                guard !state.isOver, let fact = Self.fact(event, wanted, &state), fact != state.last else { return nil }
                state.last = fact
                return fact
            }
            if let fact { reporting(fact) }
        }
    }

    func start() { stream.start() }

    func cancel() {
        let instead = state.withLock { state in
            state.isOver = true
            return state.instead
        }
        // The daemon withdraws a service when its client disconnects.
        stream.cancel()
        instead?.cancel()
    }

    func cancel(waitingAtMost limit: Duration) async -> Bool {
        let (id, instead) = state.withLock { state in
            state.isOver = true
            defer { state.id = nil }
            return (state.id, state.instead)
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

    private static func fact(
        _ event: RemoteStream.Event,
        _ wanted: ServiceName,
        _ state: inout State
    ) -> PublicationFact? {
        let name = state.last?.name ?? wanted
        switch event {
        case .woken: return nil
        case .disconnected(let reason):
            state.id = nil
            return PublicationFact(name: name, state: .waiting(reason))
        case .refused(let error):
            guard error.status < 500 else { return PublicationFact(name: name, state: .waiting(error.message)) }
            state.isOver = true
            let isTaken = error.code == DiscoveryError.Code.nameTaken.description
            return PublicationFact(
                name: name,
                state: isTaken ? .conflicted(error.discoveryError) : .failed(error.discoveryError)
            )
        case .line(let bytes):
            guard let json = try? JSONReader.read(bytes), let status = RegistrationStatus(json) else { return nil }
            state.id = status.id
            guard var known = Self.state(status) else { return nil }
            if known == .established { state.isPersistent = true }
            state.isOver = status.isFinal
            if state.isPersistent, case .failed(let error) = known, error.code != .closed {
                // A restarted daemon does not know that the name was taken.
                state.isOver = false
                known = .refused(error)
            }
            return PublicationFact(name: ServiceName(observed: status.name), state: known)
        }
    }

    private static func state(_ status: RegistrationStatus) -> PublicationFact.State? {
        let reason = status.reason?.escapedForTerminal ?? "no reason was given"
        let error = DiscoveryError(DiscoveryError.Code(status.code ?? "backend-failed"), reason)
        switch status.state {
        case _ where status.isRetrying: return .refused(error)
        case .waiting, .withheld: return .waiting(reason)
        case .registering: return .registering
        case .established: return .established
        case .conflicted: return .conflicted(error)
        case .failed: return .failed(error)
        case .withdrawn:
            return .failed(DiscoveryError(.closed, "\(ServiceName(observed: status.name)) was withdrawn"))
        case .unknown: return nil
        }
    }
}
