internal import Discovery
internal import DiscoverySystem
internal import NIOCore

/// Reports incoming bytes before they are parsed; drops them once the request is refused.
final class ReceivedHandler: ChannelDuplexHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Triggered through the pipeline: further bytes are ignored.
    enum Event { case refused }

    private let connection: Connection
    private let isRefused = Locked(false)

    init(_ connection: Connection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isRefused.withLock({ $0 }) { return }
        connection.received()
        context.fireChannelRead(data)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard case .refused? = event as? Event else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        isRefused.withLock { $0 = true }
        promise?.succeed(())
    }
}
