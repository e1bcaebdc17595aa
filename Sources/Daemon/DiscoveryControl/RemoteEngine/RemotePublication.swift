internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import DiscoverySystem

/// A publication that the daemon keeps while its connection is open. If the daemon has no connection left, another
/// engine publishes instead.
final class RemotePublication: PublicationOperation {
    /// What another engine publishes in the daemon's place.
    private enum Instead {
        case nothing
        /// It may report before it is known here; the gate opens then.
        case begins(Gate)
        case operation(any PublicationOperation)

        var operation: (any PublicationOperation)? {
            if case .operation(let operation) = self { operation } else { nil }
        }
    }

    private struct State {
        var facts: RemotePublicationFacts
        /// What is wanted now.
        var request: RegistrationRequest
        /// The TXT record that the daemon was given.
        var given: TXTRecord
        /// Whether it is being given another.
        var isGiving = false
        var instead = Instead.nothing

        /// Returns the registration whose TXT record is to be replaced now.
        mutating func beginGiving() -> Bool {
            guard !isGiving, !facts.isOver, facts.id != nil, given != request.service.txt else { return false }
            isGiving = true
            return true
        }
    }

    /// Facts are added under the state's lock, which keeps them in order, and reported without it.
    private struct Reports: Sendable {
        private let reporting: @Sendable (PublicationFact) -> Void
        private let queue = ReportQueue<Int>()

        init(_ reporting: @escaping @Sendable (PublicationFact) -> Void) { self.reporting = reporting }

        func add(_ facts: [PublicationFact]) {
            for fact in facts { queue.add { [reporting] in reporting(fact) } }
        }

        func run() { queue.run() }
    }

    private let client: ControlClient
    private let state: Locked<State>
    private let stream: RemoteStream
    private let reports: Reports

    /// - Parameter instead: publishes a service on another engine; nil if there is none.
    init(
        _ pulse: Pulse,
        _ request: RegistrationRequest,
        isPersistent: Bool = false,
        instead: @escaping @Sendable (OfferedService) -> (any PublicationOperation)? = { _ in nil },
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) {
        client = ControlClient(pulse.place)
        let reports = Reports(reporting)
        self.reports = reports
        let facts = RemotePublicationFacts(request.service.name, isPersistent: isPersistent)
        let state = Locked(State(facts: facts, request: request, given: request.service.txt))
        self.state = state
        // The response ends when the service is withdrawn; another request would publish it again.
        let isWanted: @Sendable () -> Bool = { state.withLock { !$0.facts.isOver } }
        stream = RemoteStream(
            pulse, Self.registration(state), staysWhenItHangs: true, isWanted: isWanted
        ) { [client] event in
            let service = state.withLock { $0.request.service }
            if case .refused(let error) = event, error.isBusy {
                let gate = Gate()
                state.withLock { $0.instead = .begins(gate) }
                defer { gate.open() }
                let operation = instead(service)
                let (isOver, txt) = state.withLock { state in
                    state.instead = operation.map(Instead.operation) ?? .nothing
                    defer { if operation != nil { state.facts.isOver = true } }
                    return (state.facts.isOver, state.request.service.txt)
                }
                if let operation {
                    if isOver { return operation.cancel() }
                    if txt != service.txt { _ = operation.update(txt: txt) }
                    return
                }
            }
            let gives = state.withLock { state in
                reports.add(state.facts.received(event))
                return state.beginGiving()
            }
            reports.run()
            if gives { Task { await Self.giveText(to: client, state, reports) } }
        }
    }

    /// The request to publish what is wanted now.
    private static func registration(_ state: Locked<State>) -> ControlClient.Request {
        var writer = JSONWriter()
        state.withLock { state in
            state.given = state.request.service.txt
            writer.request(state.request)
        }
        return ControlClient.Request("POST", "/v1/registrations?attached=1", body: writer.bytes)
    }

    /// Has the daemon announce the newest TXT record, again and again until it does or has another registration. If it refuses the record, the
    /// one before stays, and the publication says so.
    private static func giveText(to client: ControlClient, _ state: Locked<State>, _ reports: Reports) async {
        var patience = Duration.milliseconds(50)
        while true {
            let next = state.withLock { state -> (id: String, txt: TXTRecord)? in
                guard !state.facts.isOver, let id = state.facts.id, state.given != state.request.service.txt else {
                    state.isGiving = false
                    return nil
                }
                return (id, state.request.service.txt)
            }
            guard let next else { return }
            var writer = JSONWriter()
            writer.txt(next.txt)
            let target = "/v1/registrations/\(QueryString.encode(next.id))/txt"
            do throws(ControlError) {
                _ = try await client.send(ControlClient.Request("PUT", target, body: writer.bytes))
                state.withLock { state in
                    guard state.facts.id == next.id else { return }
                    state.given = next.txt
                    reports.add(state.facts.tookChange())
                }
            } catch let error where error.isFinal {
                state.withLock { state in
                    // Another one may be wanted by now.
                    guard state.request.service.txt == next.txt else { return }
                    state.request.service.txt = state.given
                    reports.add(state.facts.refusedChange(error.discoveryError))
                }
            } catch {
                // A daemon of a moment ago, which may not have told its end yet, or one that has no room for a moment.
                try? await Task.sleep(for: patience)
                patience = min(patience * 2, .seconds(2))
            }
            reports.run()
        }
    }

    func start() { stream.start() }

    func update(txt: TXTRecord) -> Bool {
        let (instead, gives) = state.withLock { state in
            state.request.service.txt = txt
            // Back to the one that the daemon kept when it refused another: there is nothing to give, and no refusal any more.
            if state.given == txt { reports.add(state.facts.tookChange()) }
            return (state.instead.operation, state.beginGiving())
        }
        // A report must not come from within this call.
        Task { [reports] in reports.run() }
        if gives { Task { [client, state, reports] in await Self.giveText(to: client, state, reports) } }
        return instead?.update(txt: txt) ?? true
    }

    func cancel() {
        let instead = state.withLock { state in
            state.facts.isOver = true
            return state.instead.operation
        }
        // The daemon withdraws a service when its client disconnects.
        stream.cancel()
        instead?.cancel()
    }

    func cancel(waitingAtMost limit: Duration) async -> Bool {
        let (id, instead) = state.withLock { state in
            state.facts.isOver = true
            return (state.facts.id.take(), state.instead)
        }
        defer { stream.cancel() }
        if case .begins(let gate) = instead { _ = await gate.wait(atMost: limit) }
        if let instead = state.withLock({ $0.instead.operation }) { return await instead.cancel(waitingAtMost: limit) }
        guard let id else { return true }
        do throws(ControlError) {
            let request = ControlClient.Request("DELETE", "/v1/registrations/\(QueryString.encode(id))")
            _ = try await client.send(request, within: limit)
            return true
        } catch {
            // It is already withdrawn.
            return error.status == 404
        }
    }
}
