#if TLS
internal import NIOCore

/// Tells a caller that speaks no TLS why its connection ends. Touched by its channel's event loop only.
final class PlainAnswer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The first byte of TLS: a record of the handshake (RFC 8446 §5.1).
    private static let handshake: UInt8 = 22

    private enum State { case waiting, secure, refused }

    private let message: [UInt8]
    private var state = State.waiting

    init(_ message: [UInt8]) { self.message = message }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if state == .waiting, let first = unwrapInboundIn(data).readableBytesView.first {
            state = first == Self.handshake ? .secure : .refused
            if state == .refused { refuse(context) }
        }
        // What is plain is not for TLS, whose alert would follow the message.
        if state != .refused { context.fireChannelRead(data) }
    }

    private func refuse(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: message)), promise: nil)
        context.fireErrorCaught(PeerRefusal.noTLS("it speaks no TLS"))
    }
}
#endif
