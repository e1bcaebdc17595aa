import AppSupport
import NIOCore
import Synchronization

/// A connection that knows whether its other side is still there, without reading.
struct DropConnection: Sendable {
    let stream: ByteStream
    let presence: Presence

    /// The initializer for listeners and for outgoing connections.
    static func make(_ channel: any Channel) -> EventLoopFuture<DropConnection> {
        let presence = Presence()
        do {
            // Must come first: once the stream exists, nothing may fail before it is used.
            try channel.pipeline.syncOperations.addHandler(Handler(presence: presence))
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return ByteStream.wrap(channel).map { DropConnection(stream: $0, presence: presence) }
    }

    /// Closes an unwanted connection.
    func refuse() async { await stream.refuse() }

    /// Whether the other side may still want an answer.
    final class Presence: Sendable {
        private let isOver = Atomic(false)

        /// The other side has neither ended its direction nor gone.
        var isThere: Bool { !isOver.load(ordering: .relaxed) }

        fileprivate func end() { isOver.store(true, ordering: .relaxed) }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let presence: Presence

        init(presence: Presence) { self.presence = presence }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .some(.inputClosed) = event as? ChannelEvent { presence.end() }
            context.fireUserInboundEventTriggered(event)
        }

        func channelInactive(context: ChannelHandlerContext) {
            presence.end()
            context.fireChannelInactive()
        }
    }
}
