internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON

extension ControlResponder {
    func registrations(_ request: ControlRequest, _ path: [String]) async throws(ControlError) -> ControlAnswer {
        try request.query.allow(request.method == "POST" ? ["attached", "wait"] : [])
        switch (request.method, path.count) {
        case ("GET", 1), ("HEAD", 1):
            let all = await registry.statuses
            return .json { object in
                object.key("registrations")
                object.array { array in
                    for status in all { array.object { $0.registrationMembers(status) } }
                }
            }
        case ("POST", 1): return try await publish(request)
        case ("GET", 2), ("HEAD", 2):
            guard let registration = await registry.registration(path[1]) else { throw Self.noRegistration(path[1]) }
            return .json { $0.registrationMembers(registration.current.status) }
        case ("DELETE", 2):
            try await registry.remove(path[1], for: request.peer)
            return .nothing
        default: throw Methods.noResource(request.path)
        }
    }

    private func publish(_ request: ControlRequest) async throws(ControlError) -> ControlAnswer {
        let json: JSONValue
        do throws(JSONReader.Failure) {
            json = try JSONReader.read(request.body)
        } catch {
            throw ControlError(400, "invalid-json", error.description)
        }
        let wanted = try RegistrationRequest(json)
        let isAttached = request.query["attached"].map { $0 != "0" && !$0.isEmpty } ?? false
        let patience = try request.query.patience()
        let registration = try await registry.add(wanted, for: request.peer, origin: isAttached ? .attached : .detached)
        if isAttached { return .lines(status: 201, RegistrationLines(registration, registry)) }
        let status = await Self.outcome(of: registration, within: patience)
        guard !status.isFinal else {
            await registry.end(registration)
            let isTaken = status.state == "conflicted"
            throw ControlError(
                isTaken ? 409 : 502,
                status.code ?? (isTaken ? DiscoveryError.Code.nameTaken : .backendFailed).description,
                status.reason ?? "the backend refused"
            )
        }
        return .json(201) { $0.registrationMembers(status) }
    }

    /// Where a registration is when it is established, given up, withheld by its check, or not done in time.
    private static func outcome(
        of registration: ManagedRegistration,
        within limit: Duration
    ) async -> RegistrationStatus {
        let wait = Task {
            var version: UInt64 = 0
            while let (status, now) = await registration.next(after: version) {
                version = now
                if status.isFinal || status.state == "established" { return }
            }
        }
        let timer = Task {
            if (try? await Task.sleep(for: limit)) != nil { wait.cancel() }
        }
        await withTaskCancellationHandler {
            await wait.value
        } onCancel: {
            wait.cancel()
        }
        timer.cancel()
        return registration.current.status
    }

    private static func noRegistration(_ id: String) -> ControlError {
        ControlError(
            404,
            DiscoveryError.Code.notFound.description,
            "there is no registration \(id.quotedForMessage)"
        )
    }
}

/// What becomes of a registration, as long as its owner is connected.
private final class RegistrationLines: LineSource {
    private let registration: ManagedRegistration
    private let registry: Registry
    private let version = Locked<UInt64>(0)

    init(_ registration: ManagedRegistration, _ registry: Registry) {
        self.registration = registration
        self.registry = registry
    }

    func next() async -> [UInt8]? {
        let last = version.withLock { $0 }
        // After a final state nothing follows.
        guard last == 0 || !registration.current.status.isFinal || registration.current.version != last,
            let (status, now) = await registration.next(after: last)
        else { return nil }
        version.withLock { $0 = now }
        var writer = JSONWriter()
        writer.line("published") { $0.registrationMembers(status) }
        return writer.bytes
    }

    func end() async { await registry.end(registration) }
}
