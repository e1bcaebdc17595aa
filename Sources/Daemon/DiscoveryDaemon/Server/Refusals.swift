internal import Discovery
internal import DiscoveryControl
internal import DiscoverySystem
internal import NIOCore
internal import NIOHTTP1

/// Connections over the limit that get an answer; bounded, because each takes a descriptor for a moment.
final class Refusals: Sendable {
    private static let limit = 16
    private let open = Locked(0)

    /// Answers a connection why there is no room; nil when too many such answers are under way.
    ///
    /// Call `ended` when the connection is closed.
    func handler(_ reason: String) -> RefusalHandler? {
        let isRoom = open.withLock { open in
            guard open < Self.limit else { return false }
            open += 1
            return true
        }
        return isRoom ? RefusalHandler(reason) : nil
    }

    func ended() { open.withLock { $0 -= 1 } }
}

/// Answers anything with 503 and closes.
///
/// It waits for a first byte, 250 ms at most: a client that finds the connection closed while it sends does not look for an
/// answer.
final class RefusalHandler: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: [UInt8]
    private let isAnswered = Locked(false)

    init(_ reason: String) {
        guard case .whole(let status, let type, let body, _) = ControlAnswer.error(ControlError(503, "busy", reason))
        else {
            answer = []
            return
        }
        let head = """
            HTTP/1.1 \(status) Service Unavailable\r
            Content-Type: \(type)\r
            Content-Length: \(body.count)\r
            X-Content-Type-Options: nosniff\r
            Retry-After: 1\r
            Connection: close\r
            \r

            """
        answer = Array(head.utf8) + body
    }

    func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { hurry(context) } }

    func channelActive(context: ChannelHandlerContext) {
        hurry(context)
        context.fireChannelActive()
    }

    private func hurry(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .milliseconds(250)) { self.tell(bound.value) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { tell(context) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func tell(_ context: ChannelHandlerContext) {
        guard !isAnswered.exchange(true), context.channel.isActive else { return }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer))).whenComplete { _ in
            bound.value.close(promise: nil)
        }
    }
}

/// Answers an oversized or malformed head, or one of an unclear host, as soon as that is known: 431 or 400.
///
/// Whatever else the client sends is read and dropped until it closes or its time is over: a client that finds the connection
/// closed while it sends does not look for an answer.
final class MalformedHeadHandler: ChannelDuplexHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private struct State {
        /// A head was taken, and not the end of its request.
        var isInRequest = false
        /// Requests whose answer is not complete.
        var unanswered = 0
        var isOver = false
    }

    /// The head names its host not at all, twice or differently; what follows on the connection is dropped.
    private struct Unclear: Error { let reason: String }

    private let state = Locked(State())

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if state.withLock(\.isOver) { return }
        let part = unwrapInboundIn(data)
        if case .head(let head) = part, let reason = Authority.refusal(of: head) {
            return errorCaught(context: context, error: Unclear(reason: reason))
        }
        state.withLock { state in
            switch part {
            case .head: (state.isInRequest, state.unanswered) = (true, state.unanswered + 1)
            case .body: break
            case .end: state.isInRequest = false
            }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { state.withLock { $0.unanswered -= 1 } }
        context.write(data, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // In the middle of a request, or of the answer to one before, there is no place for an answer.
        let (isOver, mayAnswer) = state.withLock { state in
            defer { state.isOver = true }
            return (state.isOver, !state.isInRequest && state.unanswered == 0)
        }
        guard let refusal = Self.refusal(error), mayAnswer else { return context.fireErrorCaught(error) }
        if !isOver { answer(refusal, context) }
    }

    /// The answer to a malformed request head; nil for other errors.
    static func refusal(_ error: any Error) -> ControlError? {
        switch error {
        case HTTPParserError.headerOverflow: ControlError(431, "too-large", "the head of a request is too large")
        case is HTTPParserError: ControlError(400, "bad-request", "this is no request of HTTP/1.1 (RFC 9112)")
        case let unclear as Unclear: ControlError(400, "bad-request", "\(unclear.reason) (RFC 9112 §3.2)")
        default: nil
        }
    }

    private func answer(_ refusal: ControlError, _ context: ChannelHandlerContext) {
        guard case .whole(_, _, let body, _) = ControlAnswer.error(refusal) else { return }
        context.triggerUserOutboundEvent(ReceivedHandler.Event.refused, promise: nil)
        context.write(wrapOutboundOut(.head(ControlAnswer.error(refusal).head(isLast: true))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            bound.value.close(mode: .output, promise: nil)
        }
    }
}

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
