import AppSupport
import DiscoveryTLS
import NIOCore
import PeerIdentity
import Synchronization

/// A connection that knows whether its other side is still there, without reading.
struct DropConnection: Sendable {
    let stream: ByteStream
    let presence: Presence
    /// The other side, once its key was judged; nil for a plain stream.
    private let peer: EventLoopFuture<PeerTLS.Peer>?
    /// Its place at a listener.
    var seat: Seats.Seat?

    /// The initializer for plain streams.
    static func plain(_ channel: any Channel) -> EventLoopFuture<DropConnection> { make(channel, nil) }

    /// The initializer for the framed mode of a side that dialled a service.
    static func calling(_ name: PeerName, _ tls: PeerTLS) -> @Sendable (any Channel) -> EventLoopFuture<DropConnection>
    {
        { channel in
            tls.secure(channel, calling: name).flatMap { make(channel, PeerTLS.peer(of: channel)) }
        }
    }

    /// The initializer for the framed mode of a side that was dialled.
    static func answering(_ tls: PeerTLS) -> @Sendable (any Channel) -> EventLoopFuture<DropConnection> {
        { channel in
            tls.secure(answering: channel).flatMap { make(channel, PeerTLS.peer(of: channel)) }
        }
    }

    private static func make(
        _ channel: any Channel, _ peer: EventLoopFuture<PeerTLS.Peer>?
    ) -> EventLoopFuture<DropConnection> {
        let presence = Presence()
        do {
            // Must come first: once the stream exists, nothing may fail before it is used.
            try channel.pipeline.syncOperations.addHandler(Handler(presence: presence))
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return ByteStream.wrap(channel).map { DropConnection(stream: $0, presence: presence, peer: peer) }
    }

    /// It is one of the framed mode.
    var isSecured: Bool { peer != nil }

    /// Waits for the end of the handshake.
    /// - Throws: `PeerRefusal`.
    func securedPeer() async throws -> PeerTLS.Peer {
        guard let peer else { throw PeerRefusal.noTLS("it is a plain stream") }
        return try await peer.get()
    }

    /// Where the other side is, for people.
    var place: String { address?.readableHost ?? "?" }

    /// The address of the other side; known also when the connection has ended.
    var address: SocketAddress? { presence.address ?? stream.channel.remoteAddress }

    /// Closes an unwanted connection.
    func refuse() async { await stream.refuse() }

    /// Whether the other side may still want an answer, and where it was when the connection began.
    final class Presence: Sendable {
        private struct State {
            var isOver = false
            var address: SocketAddress?
            var waiting: [@Sendable () -> Void] = []
        }
        private let state = Mutex(State())

        /// The other side has neither ended its direction nor gone.
        var isThere: Bool { state.withLock { !$0.isOver } }

        fileprivate var address: SocketAddress? { state.withLock { $0.address } }

        /// Calls back once, when the other side has ended its direction or gone; immediately where it has.
        func whenOver(_ body: @escaping @Sendable () -> Void) {
            let isOver = state.withLock { state in
                if !state.isOver { state.waiting.append(body) }
                return state.isOver
            }
            if isOver { body() }
        }

        fileprivate func begin(_ address: SocketAddress?) {
            state.withLock { state in if state.address == nil { state.address = address } }
        }

        fileprivate func end() {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                state.isOver = true
                return state.waiting
            }
            for body in waiting { body() }
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let presence: Presence

        init(presence: Presence) { self.presence = presence }

        func handlerAdded(context: ChannelHandlerContext) { presence.begin(context.remoteAddress) }

        func channelActive(context: ChannelHandlerContext) {
            presence.begin(context.remoteAddress)
            context.fireChannelActive()
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .some(.inputClosed) = event as? ChannelEvent { presence.end() }
            context.fireUserInboundEventTriggered(event)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            presence.end()
            context.fireErrorCaught(error)
        }

        func channelInactive(context: ChannelHandlerContext) {
            presence.end()
            context.fireChannelInactive()
        }
    }
}
