internal import DNSSD
package import Discovery
package import DiscoveryControl
internal import DiscoverySystem

/// One wanted service: published while its check passes, or always without a check.
package final class ManagedRegistration: Sendable {
    package let id: String
    package let uid: UInt32
    package let origin: RegistrationStatus.Origin

    private struct State {
        var request: RegistrationRequest
        var health: Health
        /// While it is published.
        var open: Publication?
        var publication: PublicationStatus?
        /// Neither taken nor refused for `silence`.
        var isUnanswered = false
        var wasEstablished = false
        /// It is about to be withdrawn with everything else.
        var isEnding = false
        var isWithdrawn = false
        var warning: String?
        /// Why it would not be there after a restart.
        var transience: String?
        var told = ToldRegistration()
        var waiters = Waiters()
        /// Grows with what can only be published anew.
        var edition = 0
        var work: Task<Void, Never>?
        /// Looks at what it offers: its check, or whether a program listens.
        var watch: Task<Void, Never>?
        /// How many of them there were: what an earlier one still says does not count.
        var watches = 0
    }

    /// Probing takes a second (RFC 6762 §8.1); what takes longer than this has a reason.
    private static let silence = Duration.seconds(3)
    /// How often to check whether a program listens by now.
    private static let listenInterval = Duration.seconds(5)

    private let state: Locked<State>
    /// What was asked for, with what was changed since.
    package var request: RegistrationRequest { state.withLock { $0.request } }
    private let log: DaemonLog
    private let noteTrouble: @Sendable (_ id: String, String?) -> Void

    init(
        id: String,
        _ request: RegistrationRequest,
        uid: UInt32,
        origin: RegistrationStatus.Origin,
        log: DaemonLog,
        noteTrouble: @escaping @Sendable (_ id: String, String?) -> Void
    ) {
        self.log = log
        self.noteTrouble = noteTrouble
        self.id = id
        self.uid = uid
        self.origin = origin
        state = Locked(State(request: request, health: request.check == nil ? .passing : .unknown))
    }

    /// Publishes until `withdraw`, in a separate task that outlives the request.
    package func start(on network: LocalNetwork, _ policy: RegistryPolicy) {
        let work = Task { await self.run(on: network) }
        state.withLock { state in
            state.work = work
            watch(policy, &state)
        }
    }

    /// It is about to be withdrawn with everything else: until `withdraw` it counts as what it is now.
    /// - Returns: whether others see it.
    func beginEnding() -> Bool {
        state.withLock { state in
            state.isEnding = true
            return state.publication?.state == .established
        }
    }

    /// Announces another TXT record, now if it is published: others see a change, and no end.
    func update(txt: TXTRecord) async {
        let open = state.withLock { state in
            state.request.service.txt = txt
            return state.open
        }
        await open?.update(txt: txt)
    }

    /// Makes it what another request for it says. Others see a change of port and TXT record, and no end; what passes its check stays
    /// published until another check fails.
    /// - Returns: its publication, which must be told of port and TXT record.
    func change(to request: RegistrationRequest, _ policy: RegistryPolicy) -> Publication? {
        var open: Publication?
        update { state in
            let old = state.request
            state.request = request
            if old.check != request.check || old.service.port != request.service.port {
                switch (request.check, state.health) {
                case (nil, _): state.health = .passing
                case (_, .passing): break
                case (_, .unknown), (_, .failing): state.health = .unknown
                }
                state.warning = nil
                watch(policy, &state)
            }
            var same = old.service
            (same.port, same.txt) = (request.service.port, request.service.txt)
            if same != request.service { state.edition += 1 } else { open = state.open }
        }
        return open
    }

    /// Withdraws the service; returns when goodbyes are sent, or after 2 s at most.
    package func withdraw() async {
        update { $0.isWithdrawn = true }
        let (work, watch) = state.withLock { ($0.work, $0.watch) }
        work?.cancel()
        watch?.cancel()
        await work?.value
        await watch?.value
    }

    /// Whether it is what a user detached with this request.
    func isDetached(_ request: RegistrationRequest, of uid: UInt32) -> Bool {
        isDetached(asIn: request, of: uid) && self.request == request
    }

    /// Whether a user detached it with a request for the same name on the same links.
    func isDetached(asIn request: RegistrationRequest, of uid: UInt32) -> Bool {
        origin == .detached && self.uid == uid && offers(asIn: request)
    }

    /// Whether a request is for what it offers already, be it in another way: for the same name on the same links.
    func offers(asIn request: RegistrationRequest) -> Bool {
        let (one, other) = (self.request.service, request.service)
        return one.instance == other.instance
            && one.isAddressRecord == other.isAddressRecord && one.host?.name == other.host?.name
            && one.interfaces == other.interfaces && one.family == other.family
            // Another address of a host is one more.
            && (!one.isAddressRecord || one.host == other.host)
    }

    /// Whether it can become what a request wants: its name is not refused then.
    func canBecome(_ request: RegistrationRequest) -> Bool {
        offers(asIn: request) && (request.onConflict == .rename || current.status.name == request.service.name.text)
    }

    /// Sets why it would not survive a restart; nil: it would.
    func isTransient(_ reason: String?) { update { $0.transience = reason } }

    /// Where it stands, and a number that grows when that changes.
    package var current: (status: RegistrationStatus, version: UInt64) {
        state.withLock { (status($0), $0.waiters.version) }
    }

    /// Where it stands, once that is newer than `version`; nil when the task is cancelled.
    package func next(after version: UInt64) async -> (status: RegistrationStatus, version: UInt64)? {
        await state.first(in: \.waiters) { state in
            state.waiters.version > version ? (status(state), state.waiters.version) : nil
        }
    }

    /// Published while it is healthy.
    private func run(on network: LocalNetwork) async {
        var version: UInt64 = 0
        var publishing: (task: Task<Void, Never>, edition: Int)?
        while let (_, now) = await next(after: version) {
            version = now
            let (isWanted, edition) = state.withLock { ($0.health == .passing && !$0.isWithdrawn, $0.edition) }
            if let running = publishing, !isWanted || running.edition != edition {
                running.task.cancel()
                await running.task.value
                publishing = nil
            }
            if isWanted, publishing == nil { publishing = (Task { await publish(on: network) }, edition) }
        }
        publishing?.task.cancel()
        await publishing?.task.value
    }

    /// Looks at what it offers now, in the place of what it did before.
    private func watch(_ policy: RegistryPolicy, _ state: inout State) {
        state.watch?.cancel()
        state.watches += 1
        let (request, number) = (state.request, state.watches)
        state.watch = Task {
            guard let check = request.check else { return await self.watchPort(of: request.service, number, policy) }
            await policy.check(check, request.service.port) { health in self.update(number) { $0.health = health } }
        }
    }

    private func update(_ number: Int, _ body: (inout State) -> Void) {
        update { if $0.watches == number { body(&$0) } }
    }

    /// Warns while nothing listens at the port: the publisher would not learn it otherwise.
    private func watchPort(of service: OfferedService, _ number: Int, _ policy: RegistryPolicy) async {
        // A command may start what it publishes once the name is established.
        if origin == .attached, (try? await Task.sleep(for: Self.listenInterval)) == nil { return }
        while policy.listens(service) == false {
            let what = "\(service.type.transport == .tcp ? "TCP" : "UDP") port \(service.port)"
            update(number) { $0.warning = "nothing listens at \(what) on this machine" }
            if (try? await Task.sleep(for: Self.listenInterval)) == nil { return }
        }
        update(number) { $0.warning = nil }
    }

    /// Publishes until the task is cancelled, and withdraws then.
    private func publish(on network: LocalNetwork) async {
        // A service that was taken before, or is configured, is never given up.
        let isPersistent = origin != .attached || state.withLock { $0.wasEstablished }
        let request = request
        let publication = network.publish(request.service, onConflict: request.onConflict, isPersistent: isPersistent)
        let service = state.withLock { state in
            state.open = publication
            return state.request.service
        }
        defer { state.withLock { $0.open = nil } }
        // It may have changed meanwhile.
        await publication.update(port: service.port, txt: service.txt)
        var silence: Task<Void, Never>?
        for await status in publication.updates {
            silence?.cancel()
            update { state in
                guard !state.isEnding else { return }
                (state.publication, state.isUnanswered) = (status, false)
                if status.state == .established { state.wasEstablished = true }
            }
            guard status.state == .registering else { continue }
            silence = Task {
                guard (try? await Task.sleep(for: Self.silence)) != nil else { return }
                update { if $0.publication == status { $0.isUnanswered = true } }
            }
        }
        silence?.cancel()
        // Goodbyes are sent because the task was cancelled.
        await publication.withdraw(waitingAtMost: .milliseconds(1700))
        let last = publication.status
        update { state in
            guard !state.isEnding else { return }
            if case .withdrawn = last.state { state.publication = nil } else { state.publication = last }
        }
        // It ended by itself: nothing to do, but the reason stays visible.
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
    }

    private func update(_ body: (inout State) -> Void) {
        let (wake, news) = state.withLock { state -> (FollowUp?, RegistrationNews?) in
            let (before, edition) = (status(state), state.edition)
            body(&state)
            let after = status(state)
            guard after != before || state.edition != edition else { return (nil, nil) }
            // Under the lock, because the last report counts.
            if after.trouble != before.trouble { noteTrouble(id, after.trouble) }
            return (state.waiters.changed(), state.told.news(from: before, to: after))
        }
        wake?()
        if let news { log.log(news.level, news.text) }
    }

    private func status(_ state: State) -> RegistrationStatus {
        let request = state.request
        let service = request.service
        var status = RegistrationStatus(
            id: id,
            name: state.publication?.name.text ?? service.name.text,
            wanted: service.name.text,
            type: service.isAddressRecord ? "" : service.type.description,
            domain: service.domain.text,
            port: service.isAddressRecord ? 0 : Int(service.port.rawValue),
            host: service.host(as: state.publication?.name ?? service.name)?.name.text,
            addresses: service.isAddressRecord ? service.host?.addresses.map(\.description) ?? [] : [],
            isAlias: service.host?.isAlias ?? false,
            state: .registering,
            uid: uid,
            origin: origin,
            check: request.check?.text,
            health: request.check == nil ? nil : state.health.state,
            warning: state.warning
        )
        if let transience = state.transience {
            status.warning = (status.warning.map { "\($0); " } ?? "") + transience
        }
        if state.isWithdrawn {
            status.state = .withdrawn
            return status
        }
        switch (state.health, state.publication?.state) {
        case (.failing(let reason), _): (status.state, status.reason) = (.withheld, "its check fails: \(reason)")
        case (.unknown, _): (status.state, status.reason) = (.withheld, "its check has not passed yet")
        case (.passing, .registering) where state.isUnanswered:
            let who = service.domain == .local ? "what publishes on the link" : "the DNS server of \(service.domain)"
            status.reason = "\(who) has neither taken nor refused it for \(Self.silence.components.seconds) s"
        case (.passing, .withdrawn), (.passing, nil): break
        case (.passing, let publication?): status.became(publication)
        }
        return status
    }
}
