internal import DNSSD
internal import Discovery
internal import DiscoveryNIO
internal import NIOCore
internal import PeerIdentity

extension PeerSession {
    /// Runs the session until the task is cancelled; then withdraws the service, closes every connection, and ends `events`. Call it once.
    /// - Throws: when publishing or browsing fails for good.
    public func run() async throws {
        defer { end() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            if mode != .client { group.addTask { try await self.advertise() } }
            if mode != .server { group.addTask { try await self.browse() } }
            group.addTask { try await self.beat() }
            group.addTask {
                await withDiscardingTaskGroup { jobs in
                    for await job in self.jobs { jobs.addTask { await job() } }
                    jobs.cancelAll()
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    // MARK: Finding and being found

    private func advertise() async throws {
        var txt = TXTRecord()
        try txt.append(key: "id", text: id.description)
        try txt.append(key: "name", text: displayName)
        if let security { try KeyHint(security.fingerprint).add(to: &txt) }
        let name = Self.serviceName(displayName) ?? .ofThisMachine()
        try await network.withListener(
            name, type: type, txt: txt, on: interfaces, initializer: Self.wrapping(calling: nil, security)
        ) { listener, connections in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await withDiscardingTaskGroup { served in
                        for await (wire, proof) in connections {
                            let number = await self.arrived(wire.channel, isSecured: proof != nil)
                            served.addTask { await self.serve(wire, number, provenBy: proof) }
                        }
                    }
                }
                group.addTask {
                    var watch = BackendWatch()
                    for await status in listener.publication.updates {
                        if let news = watch.became(status) { self.queue.push(.backend(news)) }
                        switch status.state {
                        case .established: self.queue.push(.published(listener.publication.service, as: status.name))
                        case .failed(let error), .conflicted(let error): throw error
                        default: continue
                        }
                    }
                }
                let end = await group.nextResult()
                group.cancelAll()
                // At once: the connections may take a while to end.
                await listener.close()
                try end?.get()
            }
        }
    }

    /// As much of a display name as fits a service's name; nil if that is no valid name.
    static func serviceName(_ displayName: String) -> ServiceName? {
        try? ServiceName(String(displayName.characters(fitting: ServiceName.maximumLength)))
    }

    /// The name of a peer that was found. TXT may say any name, and a key is known by the service's: with TLS TXT can only make that one longer.
    private func name(of service: DiscoveredService) -> String {
        let (own, claimed) = (service.instance.name, service.txt.text(for: "name"))
        guard let claimed else { return own.text }
        return security == nil || Self.serviceName(claimed) == own ? claimed : own.text
    }

    private func browse() async throws {
        for try await event in network.browse(type, on: interfaces) {
            switch event {
            case .found(let service), .changed(let service):
                guard let id = service.instance.peerID(service.txt) else { continue }
                perform(table.found(id, named: name(of: service), at: service.instance))
            case .lost(let service): perform(table.lost(service.instance))
            // In a session that also publishes, the publication reports this: without it nobody finds the session.
            case .backend(let state): if mode == .client { queue.push(.backend(state)) }
            case .settled, .degraded: continue
            }
        }
    }

    // MARK: What peers say

    func received(_ frame: Frame, _ number: PeerTable.LinkID) async throws {
        guard let link = links[number], link.stage != .closing else { return }
        switch frame {
        case .hello(let greeting):
            guard link.isIncoming, link.stage == .new else { throw SessionError(.malformed, "a hello too many") }
            links[number]?.reached(.greeted, now: .now)
            links[number]?.remoteOffer = greeting.datagrams
            if greeting.datagrams != nil {
                let socket = await DatagramSocket.open(beside: link.channel, isSealed: security != nil)
                links[number]?.socket = socket
            }
            let claim = await claim(of: greeting, on: number)
            perform(table.greeted(number, by: greeting, claim))
        case .welcome(let greeting):
            guard !link.isIncoming, link.stage == .greeted else {
                throw SessionError(.malformed, "a welcome to nobody")
            }
            links[number]?.reached(.connected, now: .now)
            links[number]?.remoteOffer = greeting.datagrams
            perform(table.welcomed(number, by: greeting))
            // The other side is waiting for this.
            links[number]?.ping()
            beginDatagrams(number)
        case .decline(let refusal):
            guard !link.isIncoming, link.stage == .greeted else {
                throw SessionError(.malformed, "a refusal of nothing")
            }
            perform(table.refused(number, refusal))
        case .message(let bytes, let delivery):
            heard(number)
            guard let peer = table.connectedPeer(on: number) else { return }
            queue.push(.received(bytes, from: peer, delivery))
        case .ping(let newest):
            heard(number)
            links[number]?.datagrams.told(newest)
        case .bye: throw SessionError(.ended, "it said goodbye")
        }
    }

    /// A peer that we welcomed continues with this connection.
    private func heard(_ number: PeerTable.LinkID) {
        let actions = table.heard(number)
        guard !actions.isEmpty else { return }
        perform(actions)
        beginDatagrams(number)
    }

    /// Carries out the table's actions.
    func perform(_ actions: [PeerTable.Action]) {
        for action in actions {
            switch action {
            case .dial(let peer, let service, let attempt):
                addJob.yield { [weak self] in await self?.dial(peer, service, attempt) }
            case .expect(let peer, let attempt):
                addJob.yield { [weak self] in
                    try? await Task.sleep(for: PeerLink.Limits.hello)
                    await self?.expectedInVain(peer, attempt)
                }
            case .greet(let link):
                links[link]?.reached(.greeted, now: .now)
                links[link]?.write(.hello(greeting(on: link, to: table.peerID(on: link))))
            case .welcome(let link):
                links[link]?.reached(.connected, now: .now)
                links[link]?.write(.welcome(greeting(on: link)))
            case .refuse(let link, let refusal): close(link, saying: .decline(refusal))
            case .close(let link): close(link, saying: .bye)
            case .tell(let event): queue.push(event)
            case .answer(let peer, let error): answer(peer, error)
            }
        }
    }

    private func expectedInVain(_ peer: PeerID, _ attempt: Int) {
        perform(table.expectedInVain(peer, attempt: attempt))
    }

    private func greeting(on link: PeerTable.LinkID, to peer: PeerID? = nil) -> Greeting {
        Greeting(id: id, name: displayName, to: peer, datagrams: links[link]?.socket?.offer)
    }

    private func close(_ number: PeerTable.LinkID, saying frame: Frame) {
        links[number]?.reached(.closing, now: .now)
        links[number]?.close(saying: frame)
    }

    // MARK: Heartbeats

    private func beat() async throws {
        var last = SuspendingClock.now
        while true {
            try await Task.sleep(for: PeerLink.Limits.heartbeat)
            let now = SuspendingClock.now
            // This process was suspended, so no one's silence means anything.
            let wasStopped = now - last > PeerLink.Limits.heartbeat * 2
            last = now
            for (number, link) in links {
                if wasStopped { links[number]?.lastHeard = now }
                check(number, link, wasStopped ? link.since : now)
            }
        }
    }

    private func check(_ number: PeerTable.LinkID, _ link: PeerLink, _ now: SuspendingClock.Instant) {
        switch link.stage {
        case .new where now - link.since > PeerLink.Limits.greeting: link.channel.close(promise: nil)
        case .greeted where link.isIncoming && now - link.since > PeerLink.Limits.invitation:
            if let peer = table.peerID(on: number) { perform(table.declined(peer)) }
        case .closing where now - link.since > PeerLink.Limits.closing: link.channel.close(promise: nil)
        case .connected where !link.isBlocked && now - link.lastHeard > PeerLink.Limits.silence:
            perform(table.ended(number, didVanish: true))
            link.channel.close(promise: nil)
        case .connected:
            if link.channel.isWritable { link.ping() }
            sendDatagram(nil, on: number)
        default: break
        }
    }
}

extension ServiceInstance {
    /// The peer that offers the service, if any.
    fileprivate func peerID(_ txt: TXTRecord) -> PeerID? { txt.text(for: "id").flatMap { PeerID($0) } }
}
