internal import Discovery
internal import DiscoveryControl
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes

/// Answers a head that is too large, or is none, as soon as that is known: 431 or 400.
///
/// The rest of what the client sends is read and dropped until it closes or its time is over: one that finds the connection
/// closed while it sends does not look for an answer.
final class MalformedHeadHandler: ChannelDuplexHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private struct State {
        /// A head was taken, and not the end of its request.
        var isInRequest = false
        /// Requests whose answer is not complete.
        var unanswered = 0
        var isOver = false
    }

    private let state = Locked(State())

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        state.withLock { state in
            switch unwrapInboundIn(data) {
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
        guard let error = error as? HTTPParserError, mayAnswer else { return context.fireErrorCaught(error) }
        if isOver { return }
        let refusal =
            error == .headerOverflow
            ? ControlError(431, "too-large", "the head of a request is too large")
            : ControlError(400, "bad-request", "this is no request of HTTP/1.1 (RFC 9112)")
        answer(refusal, context)
    }

    private func answer(_ refusal: ControlError, _ context: ChannelHandlerContext) {
        guard case .whole(let status, let type, let body, _) = ControlAnswer.error(refusal) else { return }
        context.triggerUserOutboundEvent(ReceivedHandler.Event.refused, promise: nil)
        let fields: HTTPFields = [.contentType: type, .contentLength: String(body.count), .connection: "close"]
        let head = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            bound.value.close(mode: .output, promise: nil)
        }
    }
}
