internal import DNSSD
internal import Discovery
internal import DiscoveryNIO
internal import NIOCore

extension PeerSession {
    typealias Wire = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Runs the session until the task is cancelled; then withdraws the service, says goodbye to every peer, and ends `events`. Call it
    /// once.
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

    private func end() {
        addJob.finish()
        for peer in table.peers where table.link(to: peer.id) != nil { disconnect(from: peer.id) }
        for link in links.values where link.stage != .closing { link.channel.close(promise: nil) }
        answerAll()
        queue.end()
    }

    // MARK: Finding and being found

    private func advertise() async throws {
        let (arrivals, arrived) = AsyncStream<any Channel>.makeStream(bufferingPolicy: .bufferingOldest(16))
        var txt = TXTRecord()
        try txt.append(key: "id", text: id.description)
        try txt.append(key: "name", text: displayName)
        let listener = try await network.listen(serviceName, type: type, txt: txt, on: interfaces) { channel in
            // Do not read before someone handles the input.
            channel.setOption(.autoRead, value: false).map {
                if case .enqueued = arrived.yield(channel) { return }
                channel.close(promise: nil)
            }
        }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { for await channel in arrivals { await self.arrived(channel) } }
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
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch {
            await listener.close()
            throw error
        }
        await listener.close()
    }

    /// As much of the display name as fits a service's name.
    private var serviceName: ServiceName {
        var left = ServiceName.maximumLength
        let name = displayName.prefix { character in
            left -= character.utf8.count
            return left >= 0
        }
        return (try? ServiceName(String(name))) ?? .ofThisMachine()
    }

    private func browse() async throws {
        for try await event in network.browse(type, on: interfaces) {
            switch event {
            case .found(let service), .changed(let service):
                guard let id = service.instance.peerID(service.txt) else { continue }
                let name = service.txt.text(for: "name") ?? service.instance.name.value
                perform(table.found(id, named: name, at: service.instance))
            case .lost(let service): perform(table.lost(service.instance))
            // In a session that also publishes, the publication reports this: without it nobody finds the session.
            case .backend(let state): if mode == .client { queue.push(.backend(state)) }
            case .settled, .degraded: continue
            }
        }
    }

    // MARK: Connections

    private func arrived(_ channel: any Channel) {
        let strangers = links.values.count { $0.isIncoming && $0.stage != .connected }
        guard strangers < Link.Limits.strangers else { return channel.close(promise: nil) }
        let number = add(channel, isIncoming: true)
        addJob.yield { [weak self] in
            let wire = try? await channel.eventLoop.submit { try Wire(wrappingChannelSynchronously: channel) }.get()
            guard let self else { return channel.close(promise: nil) }
            // It was reset before it was read, and must not stay among the strangers.
            guard let wire else { return await self.discard(channel, number) }
            try? await channel.setOption(.autoRead, value: true).get()
            await self.serve(wire, number)
        }
    }

    private func discard(_ channel: any Channel, _ number: PeerTable.LinkID) {
        links[number] = nil
        channel.close(promise: nil)
    }

    private func add(_ channel: any Channel, isIncoming: Bool) -> PeerTable.LinkID {
        let number = number()
        links[number] = Link(channel: channel, isIncoming: isIncoming, now: .now)
        return number
    }

    private func dial(_ peer: PeerID, _ service: ServiceInstance, _ attempt: Int) async {
        do {
            let (wire, _) = try await network.connect(to: .instance(service), on: interfaces) { channel in
                channel.eventLoop.makeCompletedFuture { try Wire(wrappingChannelSynchronously: channel) }
            }
            let socket = await DatagramSocket.open(beside: wire.channel)
            let number = add(wire.channel, isIncoming: false)
            links[number]?.socket = socket
            perform(table.dialled(peer, attempt: attempt, number))
            await serve(wire, number)
        } catch {
            perform(table.failed(peer, attempt: attempt, SessionError(.unreachable, "\(error)")))
        }
    }

    /// Reads a connection until it ends.
    private func serve(_ wire: Wire, _ number: PeerTable.LinkID) async {
        try? await wire.executeThenClose { inbound, _ in
            var decoder = FrameDecoder()
            for try await buffer in inbound {
                links[number]?.lastHeard = .now
                for frame in try decoder.received(buffer.readableBytesView) {
                    if queue.isFull {
                        links[number]?.isBlocked = true
                        await queue.room()
                        links[number]?.isBlocked = false
                        links[number]?.lastHeard = .now
                    }
                    try await received(frame, number)
                }
            }
        }
        links.removeValue(forKey: number)?.socket?.close()
        perform(table.ended(number, didVanish: false))
    }

    private func received(_ frame: Frame, _ number: PeerTable.LinkID) async throws {
        guard let link = links[number], link.stage != .closing else { return }
        switch frame {
        case .hello(let greeting):
            guard link.isIncoming, link.stage == .new else { throw SessionError(.malformed, "a hello too many") }
            links[number]?.reached(.greeted, now: .now)
            links[number]?.remoteOffer = greeting.datagrams
            if greeting.datagrams != nil {
                let socket = await DatagramSocket.open(beside: link.channel)
                links[number]?.socket = socket
            }
            perform(table.greeted(number, by: greeting))
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
                    try? await Task.sleep(for: Link.Limits.hello)
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
            try await Task.sleep(for: Link.Limits.heartbeat)
            let now = SuspendingClock.now
            // This process was suspended, so no one's silence means anything.
            let wasStopped = now - last > Link.Limits.heartbeat * 2
            last = now
            for (number, link) in links {
                if wasStopped { links[number]?.lastHeard = now }
                check(number, link, wasStopped ? link.since : now)
            }
        }
    }

    private func check(_ number: PeerTable.LinkID, _ link: Link, _ now: SuspendingClock.Instant) {
        switch link.stage {
        case .new where now - link.since > Link.Limits.greeting: link.channel.close(promise: nil)
        case .greeted where link.isIncoming && now - link.since > Link.Limits.invitation:
            if let peer = table.peerID(on: number) { perform(table.declined(peer)) }
        case .closing where now - link.since > Link.Limits.closing: link.channel.close(promise: nil)
        case .connected where !link.isBlocked && now - link.lastHeard > Link.Limits.silence:
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
