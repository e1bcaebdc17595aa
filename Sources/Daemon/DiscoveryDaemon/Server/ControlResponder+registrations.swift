internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem

extension ControlResponder {
    /// The most subtypes of a service, as in the configuration: each is a record of its own on the links.
    private static let mostSubtypes = 64

    func registrations(_ request: ControlRequest) async throws(ControlError) -> ControlAnswer {
        if request.method == "POST" { return try await publish(request) }
        try request.query.allow([])
        let all = await registry.statuses.map { $0.shown(to: request.peer) }
        return .json { object in
            object.array("registrations", of: all) { array, status in array.object { $0.registrationMembers(status) } }
        }
    }

    func registration(_ id: String, _ request: ControlRequest) async throws(ControlError) -> ControlAnswer {
        try request.query.allow([])
        if request.method == "DELETE" {
            try await registry.remove(id, for: request.peer)
            return .nothing
        }
        guard let registration = await registry.registration(id) else { throw Registry.nothing(called: id) }
        let status = registration.current.status.shown(to: request.peer)
        return .json { $0.registrationMembers(status) }
    }

    /// Replaces the TXT record.
    func registrationText(_ id: String, _ request: ControlRequest) async throws(ControlError) -> ControlAnswer {
        try request.query.allow([])
        let txt = try RegistrationRequest.txtRecord(request.json())
        let status = try await registry.update(id, txt: txt, for: request.peer).shown(to: request.peer)
        return .json { $0.registrationMembers(status) }
    }

    private func publish(_ request: ControlRequest) async throws(ControlError) -> ControlAnswer {
        try request.query.allow(["attached", "wait"])
        let json = try request.json()
        // What is kept already may have more, and is read all the same.
        guard json["subtypes"]?.array?.count ?? 0 <= Self.mostSubtypes else {
            throw ControlError(400, "invalid-request", "\(Self.mostSubtypes) subtypes of one service at most")
        }
        let wanted = try RegistrationRequest(json)
        let isAttached = request.query["attached"].map { $0 != "0" && !$0.isEmpty } ?? false
        let patience = try request.query.patience()
        let added = try await registry.add(wanted, for: request.peer, origin: isAttached ? .attached : .detached)
        let registration = added.registration
        if isAttached {
            return .lines(status: 201, RegistrationLines(registration: registration, registry: registry))
        }
        let status = await Self.outcome(of: registration, within: patience)
        // A service that was taken before stays, whatever the backend says now.
        guard status.isFinal || (added.isNew && status.isRetrying) else {
            return .json(201) { object in
                object.registrationMembers(status)
                guard let change = added.change else { return }
                object.key("changed")
                object.registrationChange(change)
            }
        }
        await registry.end(registration)
        throw Self.refusal(status)
    }

    /// The verdict of the backend, or of another host that has the name, on a new service.
    private static func refusal(_ status: RegistrationStatus) -> ControlError {
        let isTaken = status.state == .conflicted
        let code = status.code ?? (isTaken ? DiscoveryError.Code.nameTaken : .backendFailed).description
        let error = ControlError(DiscoveryError(DiscoveryError.Code(code), status.reason ?? "it was refused"))
        // A limit of avahi-daemon is not the user's quota.
        return ControlError(error.status == 429 ? 403 : error.status, error.code, error.message)
    }

    /// The status of a registration once it is established, refused, given up, withheld by its check, or out of time.
    private static func outcome(
        of registration: ManagedRegistration,
        within limit: Duration
    ) async -> RegistrationStatus {
        await withTimeLimit(limit) {
            var version: UInt64 = 0
            while let (status, now) = await registration.next(after: version) {
                version = now
                if status.hasOutcome { return }
            }
        }
        return registration.current.status
    }
}

/// The states of a registration while its owner is connected.
private struct RegistrationLines: LineSource {
    let registration: ManagedRegistration
    let registry: Registry
    private let version = Locked<UInt64>(0)

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
