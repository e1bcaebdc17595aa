public import DNSSD
public import Discovery
internal import NIOCore

/// A session of peers on the local network, which find, invite and message each other, like Game Kit's.
///
/// Everything happens in `run()`; read `events` meanwhile. A peer that falls silent is `disconnected` within 5 s. Without TLS, which a session
/// has if it is created with `tls:` (trait `TLS`), no one proves who they are (RFC 6762 §21), and nothing is encrypted.
public actor PeerSession {
    /// The maximum length of a message: 87 KB, which is 89 088 bytes.
    public static let maximumMessageLength = 87 * 1024
    /// A length that fits a single packet on most networks.
    public static let recommendedMessageLength = 1000

    /// This session's id.
    public nonisolated let id: PeerID
    /// The name that others see.
    public nonisolated let displayName: String
    /// How this session finds others.
    public nonisolated let mode: SessionMode
    /// The session's events, for one task. Keep reading, or messages stop arriving.
    public nonisolated let events: SessionEvents

    let network: LocalNetwork
    let type: ServiceType
    let interfaces: InterfaceFilter
    /// Nil for a plain session.
    let security: (any SessionSecurity)?
    let queue = SessionEventQueue()
    let jobs: AsyncStream<@Sendable () async -> Void>
    let addJob: AsyncStream<@Sendable () async -> Void>.Continuation
    var table: PeerTable
    var links: [PeerTable.LinkID: PeerLink] = [:]
    private var nextNumber = 0
    private var isOver = false
    private var waiting: [PeerID: [(number: Int, continuation: CheckedContinuation<SessionError?, Never>)]] = [:]

    /// Creates a plain session; `run()` starts it.
    /// - Parameters:
    ///   - network: finds and publishes.
    ///   - identifier: shared by all sessions of one program: 1 to 15 letters, digits and hyphens.
    ///   - displayName: for people; cut to 200 bytes. The service gets as much of it as fits a service's name.
    ///   - mode: what it takes part as.
    ///   - id: who it is; a new one each time unless told.
    ///   - interfaces: where it finds, and is found.
    /// - Throws: `.invalidServiceType` for an identifier that gives no service type.
    public init(
        network: LocalNetwork,
        identifier: String,
        displayName: String,
        mode: SessionMode,
        id: PeerID = .random(),
        on interfaces: InterfaceFilter = .all
    ) throws(DiscoveryError) {
        try self.init(
            network: network, identifier: identifier, displayName: displayName, mode: mode, id: id, on: interfaces,
            security: nil)
    }

    init(
        network: LocalNetwork, identifier: String, displayName: String, mode: SessionMode, id: PeerID,
        on interfaces: InterfaceFilter, security: (any SessionSecurity)?
    ) throws(DiscoveryError) {
        self.network = network
        self.type = try ServiceType("_\(identifier)._tcp")
        self.displayName = Peer.cut(displayName)
        (self.mode, self.id, self.interfaces, self.security) = (mode, id, interfaces, security)
        events = SessionEvents(queue: queue)
        table = PeerTable(own: id)
        (jobs, addJob) = AsyncStream.makeStream()
    }

    /// The peers known now, sorted by name.
    public var peers: [Peer] { table.peers }

    /// Invites a peer, or accepts its invitation, and waits until it is connected.
    /// - Throws: `.declined`, `.unreachable` (also after `limit`), `.noSuchPeer`, `.ended`.
    public func connect(to peer: PeerID, within limit: Duration = .seconds(30)) async throws(SessionError) {
        let number = number()
        addJob.yield { [weak self] in
            // Cancelled at the session's end, which answers all.
            // The largest limits would overflow the clock.
            guard (try? await Task.sleep(for: min(limit, .seconds(1 << 32)))) != nil else { return }
            await self?.timedOut(peer, number)
        }
        let error = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<SessionError?, Never>) in
                guard !Task.isCancelled else {
                    return continuation.resume(returning: SessionError(.ended, "the task was cancelled"))
                }
                guard !isOver else { return continuation.resume(returning: Self.over) }
                waiting[peer, default: []].append((number, continuation))
                perform(table.wanted(peer))
            }
        } onCancel: {
            Task { await self.cancelled(peer, number) }
        }
        if let error { throw error }
    }

    /// Accepts an invitation. The peer is connected once it continues, which `events` reports.
    public func accept(_ peer: PeerID) { perform(table.accepted(peer)) }

    /// Declines an invitation.
    public func decline(_ peer: PeerID) { perform(table.declined(peer)) }

    /// Ends the connection to a peer, or the attempt to make one.
    public func disconnect(from peer: PeerID) { perform(table.unwanted(peer)) }

    /// Ends all connections.
    public func disconnectFromAll() {
        for peer in table.peers { disconnect(from: peer.id) }
    }

    /// Sends a message to some connected peers.
    /// - Throws: `.messageTooLong`, and `.noSuchPeer` if one is not connected, before anything is sent; also `.noSuchPeer` if a connection
    ///   is lost meanwhile, after sending to the others.
    public func send(
        _ message: [UInt8], to peers: [PeerID], _ delivery: Delivery = .reliable
    ) async throws(SessionError) {
        try Self.check(message)
        var connected: [PeerTable.LinkID] = []
        for peer in peers {
            guard let link = table.link(to: peer), links[link] != nil else {
                throw SessionError(
                    .noSuchPeer, "\(table.entries[peer]?.peer.description ?? "\(peer)") is not connected")
            }
            connected.append(link)
        }
        try await write(message, delivery, on: connected)
    }

    /// Sends a message to all connected peers, even if there are none.
    /// - Throws: `.messageTooLong`.
    public func sendToAll(_ message: [UInt8], _ delivery: Delivery = .reliable) async throws(SessionError) {
        try Self.check(message)
        let connected = table.peers.compactMap { table.link(to: $0.id) }
        // A peer that leaves meanwhile no longer counts.
        try? await write(message, delivery, on: connected)
    }

    private static func check(_ message: [UInt8]) throws(SessionError) {
        guard message.count <= maximumMessageLength else {
            throw SessionError(
                .messageTooLong,
                "the message has \(message.count) bytes, at most \(maximumMessageLength) (87 KB) are sent")
        }
    }

    private func write(
        _ message: [UInt8], _ delivery: Delivery, on connected: [PeerTable.LinkID]
    ) async throws(SessionError) {
        guard delivery == .reliable else {
            for link in connected { sendUnreliably(message, on: link) }
            return
        }
        let buffer = ByteBuffer(bytes: Frame.message(message, delivery).bytes)
        // All concurrently, so that a slow peer does not delay the others.
        let writes = connected.compactMap { links[$0]?.channel.writeAndFlush(buffer) }
        var isComplete = true
        for write in writes where (try? await write.get()) == nil { isComplete = false }
        if !isComplete { throw SessionError(.noSuchPeer, "a connection was lost") }
    }

    // MARK: Helpers

    func number() -> Int {
        nextNumber += 1
        return nextNumber
    }

    func answer(_ peer: PeerID, _ error: SessionError?) {
        for waiter in waiting.removeValue(forKey: peer) ?? [] { waiter.continuation.resume(returning: error) }
    }

    private static let over = SessionError(.ended, "the session is over")

    /// All that wait for a connection learn that the session is over.
    func answerAll() {
        for peer in Array(waiting.keys) { answer(peer, Self.over) }
    }

    func end() {
        isOver = true
        addJob.finish()
        answerAll()
        queue.end()
    }

    private func timedOut(_ peer: PeerID, _ number: Int) {
        let name = table.entries[peer]?.peer.description ?? "\(peer)"
        giveUp(peer, number, SessionError(.unreachable, "\(name) did not answer in time"))
    }

    private func cancelled(_ peer: PeerID, _ number: Int) {
        giveUp(peer, number, SessionError(.ended, "the task was cancelled"))
    }

    /// One caller stops waiting for a connection; when the last one does, the attempt ends.
    private func giveUp(_ peer: PeerID, _ number: Int, _ error: SessionError) {
        guard let index = waiting[peer]?.firstIndex(where: { $0.number == number }) else { return }
        waiting[peer]?.remove(at: index).continuation.resume(returning: error)
        guard waiting[peer]?.isEmpty == true else { return }
        waiting[peer] = nil
        perform(table.failed(peer, error))
    }
}

/// Unreliable messages: over UDP while that is known to work, else over the connection.
extension PeerSession {
    /// Sends without waiting.
    func sendUnreliably(_ message: [UInt8], on number: PeerTable.LinkID) {
        guard let link = links[number] else { return }
        if link.datagrams.works, message.count <= link.seal.maximumMessageLength {
            sendDatagram(message, on: number)
        } else if link.channel.isWritable {
            link.write(.message(message, .unreliable))
        }
    }

    /// Whether unreliable messages to a peer currently use UDP.
    package func usesDatagrams(to peer: PeerID) -> Bool {
        table.link(to: peer).flatMap { links[$0]?.datagrams.works } ?? false
    }

    /// Starts datagrams if both sides have offered them; otherwise discards the socket.
    func beginDatagrams(_ number: PeerTable.LinkID) {
        guard let socket = links[number]?.socket else { return }
        guard table.connectedPeer(on: number) != nil, let remote = links[number]?.remoteOffer,
            let seal = seal(for: remote)
        else {
            links[number]?.socket = nil
            return socket.close()
        }
        links[number]?.seal = seal
        addJob.yield { [weak self] in
            guard (try? await socket.connect(to: remote)) != nil else { return socket.close() }
            await self?.sendDatagram(nil, on: number)
            for await datagram in socket.arrivals { await self?.arrived(datagram, number) }
        }
    }

    /// Nil where datagrams would be plain although the connection is not.
    private func seal(for remote: DatagramOffer) -> DatagramSeal? {
        security == nil ? DatagramSeal(nil) : remote.key.map { DatagramSeal($0) }
    }

    /// - Parameter message: nil for a probe.
    func sendDatagram(_ message: [UInt8]?, on number: PeerTable.LinkID) {
        guard let socket = links[number]?.socket, let remote = links[number]?.remoteOffer,
            let next = links[number]?.datagrams.next(),
            let bytes = links[number]?.seal.seal(SessionDatagram(token: remote.token, number: next, message: message))
        else { return }
        socket.send(bytes)
    }

    private func arrived(_ datagram: SessionDatagram, _ number: PeerTable.LinkID) {
        guard let peer = table.connectedPeer(on: number) else { return }
        let isFirst = links[number]?.datagrams.heard == 0
        guard links[number]?.datagrams.arrived(datagram.number) == true else { return }
        // Confirm the first one immediately instead of with the next ping.
        if isFirst { links[number]?.ping() }
        guard let message = datagram.message, !queue.isFull else { return }
        queue.push(.received(message, from: peer, .unreliable))
    }
}
