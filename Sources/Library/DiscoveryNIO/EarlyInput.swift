import NIOCore

/// Keeps what the other side sends before the connection has handlers: a server may speak first, and close immediately.
///
/// When the other side closes, SwiftNIO reads to the end even if no one asked for it. The socket's receive buffer bounds how much that can
/// be. Used on its channel's event loop.
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

    /// Passes everything to the pipeline, which now has its handlers, and holds nothing back from then on.
    func release(into channel: any Channel) {
        isHolding = false
        for buffer in buffers { channel.pipeline.fireChannelRead(buffer) }
        if !buffers.isEmpty { channel.pipeline.fireChannelReadComplete() }
        buffers = []
        guard isInputClosed else { return }
        // At the end of input do as SwiftNIO does: notify, or close the connection, depending on the channel's options.
        if (try? channel.syncOptions?.getOption(.allowRemoteHalfClosure)) == true {
            channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        } else {
            channel.close(promise: nil)
        }
    }
}
