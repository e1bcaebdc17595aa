#if TLS
internal import NIOCore

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
