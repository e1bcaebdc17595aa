internal import DNSSD
package import Discovery
package import DiscoveryControl
package import Logging

/// What this machine is to offer: services of the configuration, services that users asked for, and those of commands that
/// are connected.
package actor Registry {
    private let network: LocalNetwork
    private let file: RegistryFile?
    /// Why there is no file.
    private let whyNoFile: String
    private let logger: Logger
    private let warn: @Sendable (String?) -> Void
    private let noteTrouble: @Sendable (_ id: String, String?) -> Void
    private var policy: RegistryPolicy
    private var entries: [String: ManagedRegistration] = [:]
    private var order: [String] = []
    private var isClosed = false
    /// Why the last time something could not be written.
    private var unsaved: String?

    /// - Parameters:
    ///   - file: where services that are handed over are kept; nil: nowhere, and none is taken.
    ///   - whyNoFile: what is said then: ends a sentence.
    ///   - noteTrouble: called with what the backend refuses, or other hosts deny, and with nil when that is over.
    package init(
        network: LocalNetwork,
        file: RegistryFile?,
        whyNoFile: String = "it has no state directory",
        policy: RegistryPolicy,
        logger: Logger,
        warn: @escaping @Sendable (String?) -> Void,
        noteTrouble: @escaping @Sendable (_ id: String, String?) -> Void = { _, _ in }
    ) {
        self.network = network
        self.file = file
        self.whyNoFile = whyNoFile
        self.policy = policy
        self.logger = logger
        self.warn = warn
        self.noteTrouble = noteTrouble
    }

    /// Takes up again what was kept.
    package func restore() {
        guard let file else { return }
        switch file.read() {
        // Whether anything can be kept is known before there is anything to lose.
        case .nothing: save()
        case .setAside(let reason): warn(reason)
        case .registrations(let kept):
            for one in kept where entries[one.id] == nil {
                start(managed(one.request, id: one.id, uid: one.uid, origin: .detached))
            }
        }
    }

    /// All, in the order they came.
    package var statuses: [RegistrationStatus] { order.compactMap { entries[$0]?.current.status } }

    package func registration(_ id: String) -> ManagedRegistration? { entries[id] }

    /// Why a peer may not publish a service of this machine, and why not hand one over; nil when it may.
    package func refusals(for peer: Peer) -> (publish: String?, handOver: String?) {
        guard let any = try? OfferedService(name: "any", type: "_any._tcp", port: 9) else { return (nil, nil) }
        return (policy.refusalToPublish(peer, any, .attached), policy.refusalToPublish(peer, any, .detached))
    }

    /// Publishes a service for a peer; one that it handed over in the same words before is the same one.
    /// - Throws: 403 when it may not, 429 when it has too many, 400 for a check that is none, 503 for what could not be kept.
    package func add(
        _ request: RegistrationRequest,
        for peer: Peer,
        origin: RegistrationStatus.Origin
    ) throws(ControlError) -> (registration: ManagedRegistration, isNew: Bool) {
        guard let uid = peer.uid else { throw Self.unknown }
        guard !isClosed else { throw ControlError(503, "closed", "the daemon ends") }
        if let reason = policy.refusalToPublish(peer, request.service, origin) {
            throw ControlError(403, DiscoveryError.Code.notPermitted.description, reason)
        }
        if origin == .detached, let same = entries.values.first(where: { $0.isDetached(request, of: uid) }) {
            return (same, isNew: false)
        }
        if origin == .detached, file == nil {
            throw ControlError(503, "no-state", "this daemon keeps nothing over a restart: \(whyNoFile)")
        }
        let own = entries.values.count { $0.uid == uid && $0.origin != .configuration }
        let quota = policy.quota(uid)
        guard own < quota else {
            throw ControlError(
                429, DiscoveryError.Code.limitExceeded.description, "\(quota) services of one user at most")
        }
        if let check = request.check {
            do throws(DiscoveryError) {
                try policy.validate(check, peer)
            } catch {
                throw ControlError(error)
            }
        }
        let registration = managed(request, id: newID(), uid: uid, origin: origin)
        start(registration)
        if origin == .detached { save() }
        return (registration, isNew: true)
    }

    /// Withdraws a service for a peer; returns when goodbyes are sent.
    /// - Throws: 404, or 403 for what belongs to somebody else.
    package func remove(_ id: String, for peer: Peer) async throws(ControlError) {
        guard let registration = entries[id] else {
            throw ControlError(
                404, DiscoveryError.Code.notFound.description, "there is no registration \(id.quotedForMessage)")
        }
        guard let uid = peer.uid else { throw Self.unknown }
        let code = DiscoveryError.Code.notPermitted.description
        guard uid == 0 || uid == registration.uid, registration.origin != .configuration || uid == 0 else {
            throw ControlError(
                403, code,
                "this service belongs to another user (\(registration.uid)); its owner or root may withdraw it")
        }
        guard registration.origin != .configuration else {
            throw ControlError(403, code, "this service is of the configuration; take it out there and reload")
        }
        await end(registration)
    }

    /// Withdraws a service whose owner is gone.
    package func end(_ registration: ManagedRegistration) async {
        guard entries.removeValue(forKey: registration.id) != nil else { return }
        order.removeAll { $0 == registration.id }
        if registration.origin == .detached { save() }
        await registration.withdraw()
    }

    /// Whether a peer may do what concerns everyone.
    package func refusalToManage(_ peer: Peer) -> String? { policy.refusalToManage(peer) }

    /// Takes over a configuration: what is the same stays published, without a break.
    package func configure(_ requests: [RegistrationRequest], policy: RegistryPolicy) async {
        self.policy = policy
        guard !isClosed else { return }
        var wanted = requests
        var gone: [ManagedRegistration] = []
        for registration in entries.values where registration.origin == .configuration {
            if let index = wanted.firstIndex(of: registration.request) {
                wanted.remove(at: index)
            } else {
                gone.append(registration)
            }
        }
        // Withdrawn first: a service with another port may have the same name.
        await withDiscardingTaskGroup { group in
            for registration in gone {
                entries[registration.id] = nil
                order.removeAll { $0 == registration.id }
                group.addTask { await registration.withdraw() }
            }
        }
        guard !isClosed else { return }
        for request in wanted {
            start(managed(request, id: newID(), uid: 0, origin: .configuration))
        }
    }

    /// Withdraws everything, which stays wanted for the next start.
    /// - Parameter disconnect: ends the connection to the backend, which withdraws all that came over it: one call for each
    ///   of a thousand takes longer than a daemon has to end.
    /// - Parameter left: how many are not withdrawn yet.
    package func close(left: Locked<Int>, _ disconnect: @Sendable () async -> Void) async {
        isClosed = true
        let all = Array(entries.values)
        entries = [:]
        order = []
        left.withLock { $0 = all.count }
        for registration in all { registration.isEnding() }
        await disconnect()
        await withDiscardingTaskGroup { group in
            for registration in all {
                group.addTask {
                    await registration.withdraw()
                    left.withLock { $0 -= 1 }
                }
            }
        }
    }

    private func managed(
        _ request: RegistrationRequest,
        id: String,
        uid: UInt32,
        origin: RegistrationStatus.Origin
    ) -> ManagedRegistration {
        ManagedRegistration(
            id: id, request, uid: uid, origin: origin, logger: logger, noteTrouble: noteTrouble)
    }

    private func start(_ registration: ManagedRegistration) {
        entries[registration.id] = registration
        order.append(registration.id)
        registration.start(on: network, policy)
    }

    /// Tries again what could not be written, as on a disk that was full.
    package func saveAgain() { if unsaved != nil { save() } }

    private func save() {
        guard let file else { return }
        let detached = order.compactMap { entries[$0] }.filter { $0.origin == .detached }
        let problem = file.write(detached.map { RegistryFile.Kept(id: $0.id, uid: $0.uid, request: $0.request) })
        // What is not new is not said again each time that it is tried.
        if problem == nil || problem != unsaved {
            warn(problem.map { "registrations cannot be kept over a restart: \($0)" })
        }
        unsaved = problem
        for one in detached { one.isTransient(problem.map { "it is not kept over a restart: \($0)" }) }
    }

    private func newID() -> String {
        while true {
            let id = String(UInt32.random(in: .min ... .max), radix: 16)
            if entries[id] == nil { return id }
        }
    }

    private static var unknown: ControlError {
        ControlError(403, DiscoveryError.Code.notPermitted.description, "only the control socket knows who you are")
    }
}
