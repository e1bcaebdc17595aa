internal import DNSSD
internal import Discovery
internal import DiscoveryNIO
internal import NIOCore
internal import PeerIdentity

extension PeerSession {
    typealias Wire = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// The initializer of connections, with TLS if the session has it. It returns the connection, to be used in any case, and who is there once
    /// TLS is established; nil without TLS.
    static func wrapping(
        calling name: PeerName?, _ security: (any SessionSecurity)?
    ) -> @Sendable (any Channel) -> EventLoopFuture<(Wire, EventLoopFuture<LinkIdentity>?)> {
        { channel in
            guard let security else {
                return channel.eventLoop.makeCompletedFuture { (try Wire(wrappingChannelSynchronously: channel), nil) }
            }
            // The wire last: dropping an unused one would trap.
            return security.secure(channel, calling: name).flatMapThrowing { proof in
                (try Wire(wrappingChannelSynchronously: channel), proof)
            }
        }
    }

    func arrived(_ channel: any Channel, isSecured: Bool) -> PeerTable.LinkID {
        makeRoom(for: channel)
        let number = number()
        links[number] = PeerLink(channel: channel, isIncoming: true, stage: isSecured ? .securing : .new, now: .now)
        return number
    }

    /// Serves a caller once its key is proven.
    func serve(_ wire: Wire, _ number: PeerTable.LinkID, provenBy proof: EventLoopFuture<LinkIdentity>?) async {
        if let proof {
            do {
                let identity = try await Self.identity(proof, on: wire)
                links[number]?.identity = identity
                links[number]?.reached(.new, now: .now)
            } catch {
                links[number] = nil
                security?.refused(error)
                return
            }
        }
        await serve(wire, number)
    }

    /// Where too many peers are not connected yet, one of the greediest address gives way.
    private func makeRoom(for channel: any Channel) {
        var room = Newcomers(limit: PeerLink.Limits.strangers)
        var strangers: [UInt64: PeerTable.LinkID] = [:]
        let isStranger = { (link: PeerLink) in link.isIncoming && link.stage != .connected && link.stage != .closing }
        for (number, link) in links.filter({ isStranger($0.value) }).sorted(by: { $0.key < $1.key }) {
            let id = room.came(from: Self.address(of: link.channel)).id
            strangers[id] = number
            if link.stage == .greeted { room.advanced(id) }
        }
        guard let number = room.came(from: Self.address(of: channel)).displaced.flatMap({ strangers[$0] }) else {
            return
        }
        links[number]?.reached(.closing, now: .now)
        links[number]?.channel.close(promise: nil)
    }

    private static func address(of channel: any Channel) -> IPAddress? {
        channel.remoteAddress.flatMap { IPAddress($0) }
    }

    /// Who the peer is; closes the connection if that stays unknown.
    private static func identity(
        _ peer: EventLoopFuture<LinkIdentity>, on wire: Wire
    ) async throws -> LinkIdentity {
        do {
            return try await withTaskCancellationHandler {
                try await peer.get()
            } onCancel: {
                wire.channel.close(promise: nil)
            }
        } catch {
            // Dropping an unused wire would trap.
            try? await wire.executeThenClose { _, _ in }
            throw error
        }
    }

    func dial(_ peer: PeerID, _ service: ServiceInstance, _ attempt: Int) async {
        do {
            let (wire, proof) = try await network.connect(
                to: .instance(service), on: interfaces, initializer: Self.wrapping(calling: .service(service), security)
            ).output
            let identity: LinkIdentity? = if let proof { try await Self.identity(proof, on: wire) } else { nil }
            let socket = await DatagramSocket.open(beside: wire.channel, isSealed: security != nil)
            let number = number()
            links[number] = PeerLink(channel: wire.channel, isIncoming: false, now: .now)
            links[number]?.identity = identity
            links[number]?.socket = socket
            perform(table.dialled(peer, attempt: attempt, number))
            await serve(wire, number)
        } catch {
            // Cancelled at the session's end, which answers all.
            guard !Task.isCancelled else { return }
            let failure = security?.error(error) ?? SessionError(.unreachable, "\(error)")
            perform(table.failed(peer, attempt: attempt, failure))
        }
    }

    /// Reads a connection until it ends.
    private func serve(_ wire: Wire, _ number: PeerTable.LinkID) async {
        do {
            try await wire.executeThenClose { inbound, _ in try await read(inbound, number) }
        } catch {
            // With TLS 1.3 the other side may say no after this side's handshake.
            if let refusal = security?.error(error), let peer = table.peerID(on: number) {
                perform(table.failed(peer, refusal))
            }
        }
        links.removeValue(forKey: number)?.socket?.close()
        // At the session's end the peer has not closed the connection.
        if Task.isCancelled { answerAll() }
        perform(table.ended(number, didVanish: false))
    }

    private func read(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, _ number: PeerTable.LinkID) async throws {
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

    /// What the key of a caller says about its hello: about the service where its id was found, else about the one that has its name.
    func claim(of greeting: Greeting, on number: PeerTable.LinkID) async -> PeerTable.Claim {
        guard let security, let identity = links[number]?.identity else { return .proven }
        // The browser may learn of another service meanwhile.
        for _ in 0..<3 {
            let found = table.service(of: greeting.id)
            guard let service = found ?? service(named: greeting.name) else { return .open }
            let claim = await security.claim(to: service, by: identity.key)
            guard table.service(of: greeting.id) == found else { continue }
            if claim == .proven { links[number]?.identity?.name = .service(service) }
            return claim
        }
        return .refuted
    }

    private func service(named name: String) -> ServiceInstance? {
        Self.serviceName(name).map { ServiceInstance(name: $0, type: type) }
    }
}

/// A connection, as the session tracks it.
struct PeerLink: Sendable {
    /// Time limits of a connection.
    enum Limits {
        /// How often to send a sign of life.
        static let heartbeat: Duration = .seconds(1)
        /// How long a peer may be silent. Together with one heartbeat, silence is noticed within 5 s.
        static let silence: Duration = .milliseconds(3800)
        /// How long a client may take to introduce itself.
        static let greeting: Duration = .seconds(5)
        /// How long to wait for the hello of a peer that refused ours because of it.
        static let hello: Duration = .seconds(1)
        /// How long an invitation stands.
        static let invitation: Duration = .seconds(30)
        /// How long sending a goodbye may take.
        static let closing: Duration = .seconds(2)
        /// Maximum number of incoming connections whose peers are not connected yet.
        static let strangers = 32
    }

    enum Stage: Hashable, Sendable {
        /// TLS is not established yet; its handshake has time limits of its own.
        case securing
        /// Nothing has been said.
        case new
        /// One side has said hello.
        case greeted
        case connected
        /// The last frame is being sent.
        case closing
    }

    let channel: any Channel
    let isIncoming: Bool
    /// Who the peer is; nil without TLS.
    var identity: LinkIdentity?
    var stage: Stage
    /// When this stage was reached.
    var since: SuspendingClock.Instant
    var lastHeard: SuspendingClock.Instant
    /// Reading is paused because no one takes the messages: the silence is our own doing.
    var isBlocked = false
    /// Sends and receives datagrams, if possible.
    var socket: DatagramSocket?
    /// Where the other side takes datagrams.
    var remoteOffer: DatagramOffer?
    var datagrams = DatagramPath()
    /// Writes the datagrams.
    var seal = DatagramSeal(nil)

    init(channel: any Channel, isIncoming: Bool, stage: Stage = .new, now: SuspendingClock.Instant) {
        (self.channel, self.isIncoming, self.stage) = (channel, isIncoming, stage)
        since = now
        lastHeard = now
    }

    mutating func reached(_ stage: Stage, now: SuspendingClock.Instant) {
        self.stage = stage
        since = now
        lastHeard = now
    }

    /// Sends without waiting; for small and rare frames.
    func write(_ frame: Frame) { channel.writeAndFlush(ByteBuffer(bytes: frame.bytes), promise: nil) }

    /// Sends a sign of life, and confirms the datagrams that have arrived.
    func ping() { write(.ping(heard: datagrams.heard)) }

    /// Sends a frame, then closes.
    func close(saying frame: Frame) {
        let channel = channel
        channel.writeAndFlush(ByteBuffer(bytes: frame.bytes)).whenComplete { _ in channel.close(promise: nil) }
    }
}
