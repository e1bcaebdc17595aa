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

/// Closes a connection after what was said is in the system's hands, or after some time.
///
/// SwiftNIO drops what is not written when a channel is closed; the last of it is TLS's close_notify (RFC 8446 §6.1), without which the peer
/// takes the end for an attack. The first handler of a pipeline; touched by its channel's event loop only.
final class LateClose: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let patience: Duration
    /// The end of the output, which comes after what was written.
    private var end: EventLoopFuture<Void>?
    private var waiting: EventLoopPromise<Void>?
    private var timer: Scheduled<Void>?

    init(atMost patience: Duration = .seconds(5)) { self.patience = patience }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .output:
            // An input that has ended makes it a close of the whole.
            let this = NIOLoopBound(context, eventLoop: context.eventLoop)
            let last = writtenOut(context)
            last.whenComplete { _ in this.value.close(mode: .output, promise: promise) }
            end = last
        case .all where context.channel.isActive: closeLate(context, promise ?? context.eventLoop.makePromise())
        case .all, .input: context.close(mode: mode, promise: promise)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        waiting?.succeed()
        waiting = nil
    }

    private func closeLate(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>) {
        if let waiting { return waiting.futureResult.cascade(to: promise) }
        waiting = promise
        let this = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: TimeAmount(patience)) { this.value.0.closeNow(this.value.1) }
        (end ?? writtenOut(context)).whenComplete { _ in this.value.0.closeNow(this.value.1) }
    }

    /// When what was said is in the system's hands: what is written last comes last.
    private func writtenOut(_ context: ChannelHandlerContext) -> EventLoopFuture<Void> {
        let promise = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: promise)
        return promise.futureResult
    }

    private func closeNow(_ context: ChannelHandlerContext) {
        guard let promise = waiting else { return }
        waiting = nil
        timer?.cancel()
        context.close(promise: promise)
    }
}
#endif
