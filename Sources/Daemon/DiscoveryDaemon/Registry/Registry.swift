package import DNSSD
package import Discovery
package import DiscoveryControl
package import DiscoverySystem

/// What this machine should offer: configured services, services that users detached, and services of connected
/// commands.
package actor Registry {
    private let network: LocalNetwork
    private let file: RegistryFile?
    /// Why there is no file.
    private let whyNoFile: String
    private let log: DaemonLog
    private let warn: @Sendable (String?) -> Void
    private let noteTrouble: @Sendable (_ id: String, String?) -> Void
    private let noteCount: @Sendable (Int) -> Void
    private var policy: RegistryPolicy
    /// In the order they came.
    private var registrations: [ManagedRegistration] = [] {
        didSet {
            let services = registrations.map(\.request.service)
            // Those of the link: what publishes there is not needed for zones.
            noteCount(services.count { $0.domain == .local })
            aliases.withLock { $0 = Set(services.compactMap(\.host).filter(\.isAlias).map(\.name)) }
        }
    }
    /// This machine's further names: those that are wanted, whatever first label they have after a conflict.
    package nonisolated let aliases = Locked<Set<HostName>>([])
    private var isClosed = false
    /// Why the last write failed.
    private var unsaved: String?
    /// The file could not be read yet: nothing may take its place.
    private var isUnread = false

    /// - Parameters:
    ///   - file: where detached services are kept; nil: nowhere, and none is accepted.
    ///   - whyNoFile: the reason then; ends a sentence.
    ///   - noteTrouble: called with what the backend refuses, or other hosts deny, and with nil when that is over.
    ///   - noteCount: called with the number of services of the link, as it changes.
    package init(
        network: LocalNetwork,
        file: RegistryFile?,
        whyNoFile: String = "it has no state directory",
        policy: RegistryPolicy,
        log: DaemonLog,
        warn: @escaping @Sendable (String?) -> Void,
        noteTrouble: @escaping @Sendable (_ id: String, String?) -> Void = { _, _ in },
        noteCount: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.network = network
        self.file = file
        self.whyNoFile = whyNoFile
        self.policy = policy
        self.log = log
        self.warn = warn
        self.noteTrouble = noteTrouble
        self.noteCount = noteCount
    }

    /// Restores what was kept.
    package func restore() {
        guard let file else { return }
        let content = file.read()
        if case .unreadable(let reason) = content {
            isUnread = true
            return noteUnsaved("what was kept cannot be read, which is tried again: \(reason)")
        }
        isUnread = false
        switch content {
        // Whether anything can be kept is known before there is anything to lose.
        case .nothing: save()
        case .setAside(let reason): warn(reason)
        case .registrations(let kept): take(kept)
        case .unreadable: break
        }
    }

    private func take(_ kept: [RegistryFile.Kept]) {
        // What was made again meanwhile takes the place of what was kept.
        let made = registrations
        for one in kept where !made.contains(where: { $0.isDetached(asIn: one.request, of: one.uid) }) {
            let id = registration(one.id) == nil ? one.id : newID()
            start(managed(one.request, id: id, uid: one.uid, origin: .detached))
        }
    }

    /// All, in the order they came.
    package var statuses: [RegistrationStatus] { registrations.map(\.current.status) }

    package func registration(_ id: String) -> ManagedRegistration? {
        registrations.first { $0.id == id }
    }

    /// Why a peer may not publish a service of this machine, and why not detach one; nil when it may.
    package func refusals(for peer: SocketPeer) -> (publish: String?, handOver: String?) {
        guard let any = try? OfferedService(name: "any", type: "_any._tcp", port: 9) else { return (nil, nil) }
        return (policy.refusalToPublish(peer, any, .attached), policy.refusalToPublish(peer, any, .detached))
    }

    /// The rules that let a peer publish some services.
    package func rules(for peer: SocketPeer) -> [AccessRules.Rule] { policy.rules(peer) }

    /// Publishes a service for a peer. What it detaches once more is what it was before, with what the request changes, and no second one.
    /// - Throws: 403 when it may not, 429 when it has too many, 400 if the check is malformed, 503 if it could not be kept, 409 if it has
    ///   another name already than the only one that the request wants.
    package func add(
        _ request: RegistrationRequest,
        for peer: SocketPeer,
        origin: RegistrationStatus.Origin
    ) async throws(ControlError) -> Added {
        guard let uid = peer.uid else { throw Self.unknown }
        guard !isClosed else { throw ControlError(503, "closed", "the daemon ends") }
        if let reason = policy.refusalToPublish(peer, request.service, origin) {
            throw ControlError(403, DiscoveryError.Code.notPermitted.description, reason)
        }
        let all = origin == .detached ? registrations : []
        if let same = all.first(where: { $0.isDetached(request, of: uid) }) {
            return Added(registration: same, isNew: false)
        }
        if origin == .detached, file == nil {
            throw ControlError(503, "no-state", "this daemon keeps nothing over a restart: \(whyNoFile)")
        }
        if let check = request.check {
            do throws(DiscoveryError) {
                try policy.validate(check, peer)
            } catch {
                throw ControlError(error)
            }
        }
        if let earlier = all.first(where: { $0.isDetached(asIn: request, of: uid) }) {
            return try await change(earlier, to: request)
        }
        let own = registrations.count { $0.uid == uid && $0.origin.isRequested }
        let quota = policy.quota(uid)
        guard own < quota else {
            throw ControlError(
                429, DiscoveryError.Code.limitExceeded.description, "\(quota) services of one user at most")
        }
        let registration = managed(request, id: newID(), uid: uid, origin: origin)
        if origin == .detached, let file, !file.hasRoom(for: Self.kept(detached + [registration])) {
            throw ControlError(503, "no-state", "there is no room for another service that is kept over a restart")
        }
        start(registration)
        if origin == .detached { save() }
        return Added(registration: registration, isNew: true)
    }

    private func change(
        _ registration: ManagedRegistration, to request: RegistrationRequest
    ) async throws(ControlError) -> Added {
        let name = registration.current.status.name
        guard request.onConflict == .rename || name == request.service.name.text else {
            throw ControlError(
                409, DiscoveryError.Code.nameTaken.description,
                "the name \(request.service.name) is taken: this service is published as \(name.quotedForMessage)")
        }
        var added = Added(registration: registration, isNew: false)
        added.change = RegistrationChange(from: registration.request, to: request)
        let open = registration.change(to: request, policy)
        save()
        if let change = added.change {
            log.log(.notice, "\(request.service.instance) is changed: \(change.texts.joined(separator: ", "))")
        }
        await open?.update(port: request.service.port, txt: request.service.txt)
        return added
    }

    /// Withdraws a service for a peer; returns when goodbyes are sent.
    /// - Throws: 404, or 403 for another owner's.
    package func remove(_ id: String, for peer: SocketPeer) async throws(ControlError) {
        await end(try registration(id, of: peer, toDo: "withdraw"))
    }

    /// Replaces a service's TXT record for a peer; returns when it is announced.
    /// - Throws: 404, or 403 for another owner's.
    package func update(
        _ id: String, txt: TXTRecord, for peer: SocketPeer
    ) async throws(ControlError) -> RegistrationStatus {
        let registration = try registration(id, of: peer, toDo: "change")
        guard !registration.request.service.isAddressRecord else {
            let what = registration.request.service.isAlias ? "an alias" : "an address record"
            throw ControlError(400, "invalid-request", "\(what) has no TXT record")
        }
        await registration.update(txt: txt)
        if registration.origin == .detached, self.registration(id) != nil { save() }
        return registration.current.status
    }

    /// A registration that a peer may withdraw or change.
    private func registration(
        _ id: String, of peer: SocketPeer, toDo verb: String
    ) throws(ControlError) -> ManagedRegistration {
        guard let registration = registration(id) else { throw Self.nothing(called: id) }
        guard let uid = peer.uid else { throw Self.unknown }
        let code = DiscoveryError.Code.notPermitted.description
        guard uid == 0 || uid == registration.uid, registration.origin.isRequested || uid == 0 else {
            throw ControlError(
                403, code,
                "this service belongs to another user (\(registration.uid)); its owner or root may \(verb) it")
        }
        guard registration.origin != .labels else {
            throw ControlError(
                403, code, "a label of a container or a unit publishes this service: it ends with that")
        }
        guard registration.origin != .configuration else {
            throw ControlError(
                403, code,
                "the configuration publishes this service: \(verb == "withdraw" ? "remove it" : "change it") there, then 'discoverd reload'"
            )
        }
        return registration
    }

    /// Withdraws a service whose owner is gone.
    package func end(_ registration: ManagedRegistration) async {
        guard let index = registrations.firstIndex(where: { $0 === registration }) else { return }
        registrations.remove(at: index)
        if registration.origin == .detached { save() }
        await registration.withdraw()
    }

    /// Whether a peer may do what concerns everyone.
    package func refusalToManage(_ peer: SocketPeer) -> String? { policy.refusalToManage(peer) }

    /// Applies a configuration. Unchanged services stay published without a break, and so do those of which port, TXT record or check are
    /// others now.
    package func configure(_ requests: [RegistrationRequest], policy: RegistryPolicy) async {
        self.policy = policy
        await offer(requests, from: .configuration)
    }

    /// Makes these all that is published from where a user has no part: what is the same stays, what has another port, TXT record or check is
    /// changed, the rest ends or begins.
    package func offer(_ requests: [RegistrationRequest], from origin: RegistrationStatus.Origin) async {
        guard !isClosed else { return }
        var wanted = requests
        var gone: [ManagedRegistration] = []
        for registration in registrations where registration.origin == origin {
            if let index = wanted.firstIndex(of: registration.request) {
                wanted.remove(at: index)
            } else {
                gone.append(registration)
            }
        }
        for registration in gone {
            guard let index = wanted.firstIndex(where: registration.canBecome) else { continue }
            gone.removeAll { $0 === registration }
            let service = wanted[index].service
            await registration.change(to: wanted.remove(at: index), policy)?.update(
                port: service.port, txt: service.txt)
        }
        guard !isClosed else { return }
        // Withdraw first: a service of another host may have the same name.
        registrations.removeAll { one in gone.contains { $0 === one } }
        await withDiscardingTaskGroup { group in
            for registration in gone { group.addTask { await registration.withdraw() } }
        }
        guard !isClosed else { return }
        for request in wanted {
            start(managed(request, id: newID(), uid: 0, origin: origin))
        }
    }

    /// Withdraws everything; it stays wanted for the next start.
    /// - Parameters:
    ///   - left: how many others still see; 0 when their goodbyes are sent.
    ///   - disconnect: ends the connection to the backend, which withdraws all that came over it, and returns whether the backend has
    ///     done so: a call for each of a thousand takes longer than a daemon has to end.
    package func close(left: Locked<Int>, _ disconnect: @Sendable () async -> Bool) async {
        isClosed = true
        let all = registrations
        registrations = []
        let published = all.map { $0.beginEnding() }.count { $0 }
        left.withLock { $0 = published }
        guard await disconnect() else { return }
        left.withLock { $0 = 0 }
        await withDiscardingTaskGroup { group in
            for registration in all { group.addTask { await registration.withdraw() } }
        }
    }

    private func managed(
        _ request: RegistrationRequest, id: String, uid: UInt32, origin: RegistrationStatus.Origin
    ) -> ManagedRegistration {
        // Anybody's image must not make the daemon unwell: what becomes of labels is in the list of services.
        ManagedRegistration(id: id, request, uid: uid, origin: origin, log: log) { [noteTrouble] id, problem in
            if origin != .labels { noteTrouble(id, problem) }
        }
    }

    private func start(_ registration: ManagedRegistration) {
        registrations.append(registration)
        registration.start(on: network, policy)
    }

    /// Retries a failed read, as without a free descriptor, or a failed write, as after a full disk.
    package func saveAgain() {
        if isUnread { restore() }
        if unsaved != nil, !isUnread { save() }
    }

    private func save() {
        guard let file else { return }
        // Never overwrites entries that are still to be read.
        guard !isUnread else { return noteUnsaved(unsaved) }
        noteUnsaved(file.write(Self.kept(detached)))
    }

    private static func kept(_ registrations: [ManagedRegistration]) -> [RegistryFile.Kept] {
        registrations.map { RegistryFile.Kept(id: $0.id, uid: $0.uid, request: $0.request) }
    }

    private var detached: [ManagedRegistration] {
        registrations.filter { $0.origin == .detached }
    }

    /// Why nothing can be kept; nil: everything is.
    private func noteUnsaved(_ problem: String?) {
        // A reason that is not new is not logged again at each try.
        if problem == nil || problem != unsaved {
            warn(problem.map { "services cannot be kept over a restart: \($0)" })
        }
        unsaved = problem
        for one in detached { one.isTransient(problem.map { "it is not kept over a restart: \($0)" }) }
    }

    private func newID() -> String {
        while true {
            let id = String(UInt32.random(in: .min ... .max), radix: 16)
            if registration(id) == nil { return id }
        }
    }
}
