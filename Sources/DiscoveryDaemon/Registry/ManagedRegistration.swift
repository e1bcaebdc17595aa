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
        var wasEstablished = false
        /// It is about to be withdrawn with everything else.
        var isEnding = false
        var isWithdrawn = false
        var warning: String?
        /// Why it would not be there after a restart.
        var transience: String?
        var told = ToldRegistration()
        var waiters = Waiters()
        var work: Task<Void, Never>?
    }

    /// How often to check whether a program listens by now.
    private static let listenInterval = Duration.seconds(5)

    private let state: Locked<State>
    /// What was asked for, with the TXT record of the last `update(txt:)`.
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
        let work = Task { await self.run(on: network, policy) }
        state.withLock { $0.work = work }
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

    /// Withdraws the service; returns when goodbyes are sent, or after 2 s at most.
    package func withdraw() async {
        update { $0.isWithdrawn = true }
        let work = state.withLock { $0.work }
        work?.cancel()
        await work?.value
    }

    /// Whether it is what a user detached with this request.
    func isDetached(_ request: RegistrationRequest, of uid: UInt32) -> Bool {
        origin == .detached && self.uid == uid && self.request == request
    }

    /// Sets why it would not survive a restart; nil: it would.
    func isTransient(_ reason: String?) { update { $0.transience = reason } }

    /// Where it stands, and a number that grows when that changes.
    package var current: (status: RegistrationStatus, version: UInt64) {
        state.withLock { (status($0), $0.waiters.version) }
    }

    /// Where it stands, once that is newer than `version`; nil when the task is cancelled.
    package func next(after version: UInt64) async -> (status: RegistrationStatus, version: UInt64)? {
        while !Task.isCancelled {
            let current = current
            if current.version > version { return current }
            await state.wait(for: \.waiters, after: version)
        }
        return nil
    }

    private func run(on network: LocalNetwork, _ policy: RegistryPolicy) async {
        guard let check = request.check else {
            return await withDiscardingTaskGroup { group in
                group.addTask { await self.watchPort(policy) }
                await self.publish(on: network)
                group.cancelAll()
            }
        }
        let port = request.service.port
        await withDiscardingTaskGroup { group in
            group.addTask {
                await policy.check(check, port) { health in self.update { $0.health = health } }
            }
            // Follows the health: published while it passes.
            var version: UInt64 = 0
            var publishing: Task<Void, Never>?
            while let (_, now) = await self.next(after: version) {
                version = now
                let isPassing = self.state.withLock { $0.health == .passing && !$0.isWithdrawn }
                if isPassing, publishing == nil {
                    publishing = Task { await self.publish(on: network) }
                } else if !isPassing, let running = publishing {
                    running.cancel()
                    await running.value
                    publishing = nil
                }
            }
            publishing?.cancel()
            await publishing?.value
            group.cancelAll()
        }
    }

    /// Warns while nothing listens at the port: the publisher would not learn it otherwise.
    private func watchPort(_ policy: RegistryPolicy) async {
        // A command may start what it publishes once the name is established.
        if origin == .attached, (try? await Task.sleep(for: Self.listenInterval)) == nil { return }
        let service = request.service
        while policy.listens(service) == false {
            let what = "\(service.type.transport == .tcp ? "TCP" : "UDP") port \(service.port)"
            update { $0.warning = "nothing listens at \(what) on this machine" }
            if (try? await Task.sleep(for: Self.listenInterval)) == nil { return }
        }
        update { $0.warning = nil }
    }

    /// Publishes until the task is cancelled, and withdraws then.
    private func publish(on network: LocalNetwork) async {
        // A service that was taken before, or is configured, is never given up.
        let isPersistent = origin != .attached || state.withLock { $0.wasEstablished }
        let request = request
        let publication = network.publish(request.service, onConflict: request.onConflict, isPersistent: isPersistent)
        let txt = state.withLock { state in
            state.open = publication
            return state.request.service.txt
        }
        defer { state.withLock { $0.open = nil } }
        // It may have changed meanwhile.
        await publication.update(txt: txt)
        for await status in publication.updates {
            update { state in
                guard !state.isEnding else { return }
                state.publication = status
                if status.state == .established { state.wasEstablished = true }
            }
        }
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
            let before = status(state)
            body(&state)
            let after = status(state)
            guard after != before else { return (nil, nil) }
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
            host: service.host?.name.text,
            addresses: service.isAddressRecord ? service.host?.addresses.map(\.description) ?? [] : [],
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
        case (.passing, .waiting(let reason)): (status.state, status.reason) = (.waiting, reason)
        case (.passing, .established): status.state = .established
        case (.passing, .refused(let error)): status.refused(error)
        case (.passing, .conflicted(let error)):
            (status.state, status.reason, status.code) = (.conflicted, error.message, error.code.description)
        case (.passing, .failed(let error)):
            (status.state, status.reason, status.code) = (.failed, error.message, error.code.description)
        case (.passing, .registering), (.passing, .withdrawn), (.passing, nil): break
        }
        return status
    }
}
