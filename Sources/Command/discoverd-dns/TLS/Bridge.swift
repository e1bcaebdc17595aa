#if Commands
internal import NIOCore
internal import NIOSSL

/// Passes what comes to one channel on to another, in both directions, no faster than it is taken. The two share an event loop.
final class Bridge: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var other: Bridge?
    private var context: ChannelHandlerContext?
    private var wantsToRead = false
    private enum Output { case open, ending, ended }
    private var output = Output.open
    /// What was given to it and is not in the system's hands yet: closing its output would lose that where its input has ended (SwiftNIO makes it a
    /// whole close then).
    private var unwritten = 0
    /// Its input has ended.
    private var isHeardOut = false
    /// Nothing more comes for it, and no one takes what it says.
    private var isDone = false
    /// Called with what ended it early.
    private let failed: (any Error) -> Void

    private init(_ failed: @escaping (any Error) -> Void) { self.failed = failed }

    static func pair(_ failed: @escaping (any Error) -> Void) -> (Bridge, Bridge) {
        let (one, other) = (Bridge(failed), Bridge(failed))
        one.other = other
        other.other = one
        return (one, other)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        other?.readOn()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        other?.end()
        other?.other = nil
        other = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other?.write(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        other?.context?.flush()
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .some(.inputClosed) = event as? ChannelEvent {
            isHeardOut = true
            other?.endOutput()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        other?.end()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // After all was said on both sides it makes no difference.
        if !isHeardOut || output != .ended { failed(error) }
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { other?.readOn() }
        context.fireChannelWritabilityChanged()
    }

    func read(context: ChannelHandlerContext) {
        guard let other = other?.context, other.channel.isWritable else {
            wantsToRead = true
            return
        }
        context.read()
    }

    private func readOn() {
        guard wantsToRead else { return }
        wantsToRead = false
        context?.read()
    }

    private func write(_ data: NIOAny) {
        guard let context else { return }
        unwritten += 1
        let this = NIOLoopBound(self, eventLoop: context.eventLoop)
        let promise = context.eventLoop.makePromise(of: Void.self)
        context.write(data, promise: promise)
        promise.futureResult.whenComplete { _ in
            this.value.unwritten -= 1
            this.value.closeOutput()
        }
    }

    /// Ends what is said to it, after what has been given to it.
    private func endOutput() {
        guard output == .open else { return }
        output = .ending
        closeOutput()
    }

    private func closeOutput() {
        guard output == .ending, unwritten == 0, let context else { return }
        output = .ended
        context.close(mode: .output, promise: nil)
        if isDone { context.close(promise: nil) }
    }

    /// Closes it, after what has been given to it.
    private func end() {
        isDone = true
        if output == .ended { context?.close(promise: nil) } else { endOutput() }
    }
}
#endif
