#if TLS
internal import NIOCore

/// Holds the end of a peer's input back while its key is judged: a peer may say all that it has, and end its side, at once.
///
/// To NIOSSL an end within the handshake is an error. The first handler of a pipeline; touched by its channel's event loop only.
final class EarlyEnd: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private var isHolding = true
    private var isHeld = false
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if isHolding, case .some(.inputClosed) = event as? ChannelEvent {
            isHeld = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// The handshake is over, one way or the other.
    func release() {
        isHolding = false
        if isHeld { context?.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
        isHeld = false
    }
}
#endif
