internal import Discovery
internal import DiscoveryControl
internal import DiscoverySystem
internal import NIOCore

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

    func channelActive(context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .milliseconds(250)) { self.tell(bound.value) }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { tell(context) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func tell(_ context: ChannelHandlerContext) {
        let isFirst = isAnswered.withLock { isAnswered in
            defer { isAnswered = true }
            return !isAnswered
        }
        guard isFirst, context.channel.isActive else { return }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer))).whenComplete { _ in
            bound.value.close(promise: nil)
        }
    }
}
