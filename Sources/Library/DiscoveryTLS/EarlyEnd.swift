#if TLS
internal import NIOCore

/// Holds a connection still while its peer's key is judged: nothing more is read, and the end of the peer's input waits.
///
/// A peer may say all that it has, and end its side, at once; to NIOSSL an end within the handshake is an error. What a stranger says while a
/// person is asked stays in the system's buffer. NIOSSL closes the connection at the peer's close_notify: until the peer is let in or refused, that waits,
/// too, for what was said before it waits with the gate. The first handler of a pipeline; touched by its channel's event loop only.
final class EarlyEnd: ChannelDuplexHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

    /// Called once, when this side answers what the peer has said: a few bytes of a message have no answer.
    var answered: () -> Void = {}
    private var hasHeard = false
    private var isHolding = false
    private var isEndHeld = false
    private var isReadHeld = false
    private var isUndecided = false
    private var closes: [(mode: CloseMode, promise: EventLoopPromise<Void>?)] = []
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        for close in closes { close.promise?.succeed() }
        closes = []
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasHeard = true
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if hasHeard {
            answered()
            answered = {}
        }
        context.write(data, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if isHolding, case .some(.inputClosed) = event as? ChannelEvent {
            isEndHeld = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func read(context: ChannelHandlerContext) {
        if isHolding { isReadHeld = true } else { context.read() }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if isUndecided { closes.append((mode, promise)) } else { context.close(mode: mode, promise: promise) }
    }

    /// The key is being judged.
    func hold() { (isHolding, isUndecided) = (true, true) }

    /// The peer is let in or refused, and what it had said is passed on or dropped.
    func decided() {
        isUndecided = false
        for (mode, promise) in closes { context?.close(mode: mode, promise: promise) }
        closes = []
    }

    /// It was judged, and what had come by then has been looked at.
    func release() {
        isHolding = false
        if isReadHeld { context?.read() }
        if isEndHeld { context?.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
        (isReadHeld, isEndHeld) = (false, false)
    }
}
#endif
