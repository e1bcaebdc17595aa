import AppSupport
import DNSSD
import DiscoveryNIO
import DiscoveryTLS
import LanChatCore
import NIOCore
import NIOPosix

/// One client of the server: reads lines at a limited pace, and sends lines from a bounded queue.
final class ChatConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The first byte of TLS (RFC 8446 §5.1); no line begins with it.
    private static let tls: UInt8 = 22

    private let server: ChatServer
    private var hasHeard = false
    private var framing = LineFraming(limit: ChatText.maximumLine)
    private var pace = Pace(now: .zero)
    private let start = NIODeadline.now()
    private var pending = 0
    private var id: Int?
    private var context: ChannelHandlerContext?
    private var isPaused = false
    /// For messages.
    private var host = "nowhere"

    init(_ server: ChatServer) { self.server = server }

    /// Sets a connection's options: small reads, and a vanished client is noticed within a minute.
    /// - Parameter peer: who it is, once TLS is established; nil where the room is plain.
    static func configure(
        _ channel: any Channel, _ server: ChatServer, _ peer: EventLoopFuture<PeerTLS.Peer>? = nil
    ) throws {
        guard let options = channel.syncOptions else { return }
        try options.setOption(.allowRemoteHalfClosure, value: true)
        try options.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2048))
        try options.setOption(.maxMessagesPerRead, value: 1)
        try channel.noticeVanishedPeers()
        let connection = ChatConnection(server)
        try channel.pipeline.syncOperations.addHandler(connection)
        // Before anything that it says.
        peer?.assumeIsolated().whenComplete { connection.judged($0) }
    }

    private func judged(_ result: Result<PeerTLS.Peer, any Error>) {
        switch result {
        case .success(let peer): if let id { server.proven(peer, of: id) }
        case .failure(let error): server.failed(error, from: host)
        }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        host = context.remoteAddress?.readableHost ?? "nowhere"
        let host = ChatHost(context.remoteAddress.flatMap { IPAddress($0) })
        let id: Int
        switch server.entered(self, from: host) {
        case .success(let place): id = place
        case .failure(let refusal): return refuse(context, refusal.rawValue)
        }
        self.id = id
        context.fireChannelActive()
        context.eventLoop.assumeIsolated().scheduleTask(in: ChatServer.patience) { [weak self] in
            guard let self, !self.server.hasJoined(id) else { return }
            self.context?.close(promise: nil)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let id else { return }
        let bytes = unwrapInboundIn(data).readableBytesView
        if !hasHeard, !server.isSecured, bytes.first == Self.tls {
            server.heardTLS(from: host)
            leave()
            return refuse(context, "this room speaks no TLS")
        }
        hasHeard = true
        let lines = framing.received(bytes)
        for line in lines { server.received(line, from: id) }
        let wait = pace.took(lines.count, now: now)
        guard wait > .zero, !isPaused else { return }
        // Stop reading: the client's own socket fills up, and only this client waits.
        isPaused = true
        let milliseconds = wait.components.seconds * 1000 + wait.components.attoseconds / 1_000_000_000_000_000
        context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(milliseconds + 1)) { [weak self] in
            guard let self else { return }
            self.isPaused = false
            self.context?.read()
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        if let id, let rest = framing.ended() { server.received(.line(rest), from: id) }
        leave()
        // A client that reads nothing would keep its connection, and counts nowhere any more.
        context.eventLoop.assumeIsolated().scheduleTask(in: ChatServer.lastWords) { [weak self] in
            self?.context?.close(promise: nil)
        }
        // What was said until now still reaches the client.
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.value.writeAndFlush(Self.wrap("")).whenComplete { _ in context.value.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Queues a line for the client; drops the client if its queue is full.
    func send(_ line: ByteBuffer) {
        guard let context, context.channel.isActive else { return }
        pending += line.readableBytes
        guard pending <= ChatServer.maximumPending else { return drop() }
        let size = line.readableBytes
        context.writeAndFlush(NIOAny(line)).assumeIsolated().whenComplete { [weak self] _ in self?.pending -= size }
    }

    /// Ends the connection. Deferred until the others have received the current line, because they are told of its departure next.
    func drop() {
        context?.eventLoop.assumeIsolated().execute { [weak self] in self?.context?.close(promise: nil) }
    }

    /// Closes the connection, in the way of TLS if it has that.
    func close(_ end: EventLoopPromise<Void>) {
        guard let context else { return end.succeed() }
        context.close(promise: end)
    }

    /// Sends the reason, then gives the client a moment to leave: closing while it still sends would reset the connection, and it might
    /// never read the reason.
    private func refuse(_ context: ChannelHandlerContext, _ reason: String) {
        guard server.refused() else { return context.close(promise: nil) }
        let loop = context.eventLoop.assumeIsolated()
        context.writeAndFlush(Self.wrap("* \(reason)\n")).assumeIsolated().whenComplete { [weak self] _ in
            self?.context?.close(mode: .output, promise: nil)
        }
        loop.scheduleTask(in: ChatServer.farewell) { [weak self, server] in
            server.refusedIsGone()
            self?.context?.close(promise: nil)
        }
    }

    private func leave() {
        if let id { server.left(id) }
        id = nil
    }

    private var now: Duration { .nanoseconds((NIODeadline.now() - start).nanoseconds) }

    private static func wrap(_ text: String) -> NIOAny { NIOAny(ByteBuffer(string: text)) }
}

/// Continues reading only when the client's pace allows it.
extension ChatConnection: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    func read(context: ChannelHandlerContext) { if !isPaused { context.read() } }
}
