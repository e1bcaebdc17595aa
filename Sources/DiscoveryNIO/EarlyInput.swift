import NIOCore

/// Keeps what the other side says before the connection has handlers: a server may speak first, and end, at once.
///
/// SwiftNIO reads to the end when the other side closes, whether reading was asked for or not. What can come so is bounded by
/// the socket's receive buffer. Used on its channel's event loop.
final class EarlyInput: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var isHolding = true
    private var buffers: [ByteBuffer] = []
    private var isInputClosed = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isHolding else { return context.fireChannelRead(data) }
        buffers.append(unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !isHolding { context.fireChannelReadComplete() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard isHolding, case .some(.inputClosed) = event as? ChannelEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        isInputClosed = true
    }

    /// Gives all that came to the pipeline, which has its handlers now, and holds nothing from now on.
    func release(into channel: any Channel) {
        isHolding = false
        for buffer in buffers { channel.pipeline.fireChannelRead(buffer) }
        if !buffers.isEmpty { channel.pipeline.fireChannelReadComplete() }
        buffers = []
        guard isInputClosed else { return }
        // As SwiftNIO does at the end of input: told, or the end of the connection, as the channel's options say.
        if (try? channel.syncOptions?.getOption(.allowRemoteHalfClosure)) == true {
            channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        } else {
            channel.close(promise: nil)
        }
    }
}
