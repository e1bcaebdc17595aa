#if TLS
internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// Waits for the end of a handshake, and says how it ended. Touched by its channel's event loop only.
final class HandshakeHandler: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    /// The peer; fails with `PeerRefusal`.
    let peer: EventLoopFuture<PeerTLS.Peer>
    private let promise: EventLoopPromise<PeerTLS.Peer>
    private let verification: PeerVerification
    private let early: EarlyEnd
    private let limit: Duration
    private var timer: Scheduled<Void>?
    private var isOver = false

    init(_ verification: PeerVerification, _ early: EarlyEnd, _ loop: any EventLoop, within limit: Duration) {
        self.verification = verification
        self.early = early
        self.limit = limit
        promise = loop.makePromise()
        peer = promise.futureResult
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        let handler = NIOLoopBound(self, eventLoop: context.value.eventLoop)
        timer = context.value.eventLoop.scheduleTask(in: TimeAmount(limit)) {
            handler.value.end(.failure(.timedOut))
            context.value.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { end(.failure(.noTLS("the connection ended"))) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .some(.handshakeCompleted) = event as? TLSUserEvent {
            end(verification.result ?? .failure(.noTLS("no certificate")))
            // After what came with the handshake.
            let early = NIOLoopBound(early, eventLoop: context.eventLoop)
            context.eventLoop.execute { early.value.release() }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isOver else { return context.fireErrorCaught(refusal(after: error) ?? error) }
        let refusal = refusal(before: error)
        end(.failure(refusal))
        context.fireErrorCaught(refusal)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.failure(.noTLS("the other side ended the connection")))
        context.fireChannelInactive()
    }

    private func refusal(before error: any Error) -> PeerRefusal {
        if case .failure(let refusal) = verification.result { return refusal }
        return refusal(after: error) ?? .noTLS(Self.reason(error))
    }

    /// With TLS 1.3 a client learns only after its own handshake that its certificate was refused.
    private func refusal(after error: any Error) -> PeerRefusal? {
        let text = "\(error)"
        let alerts = ["BAD_CERTIFICATE", "CERTIFICATE_", "UNKNOWN_CA", "ACCESS_DENIED"]
        return alerts.contains { text.contains("ALERT_\($0)") } ? .refusedByPeer : nil
    }

    /// What BoringSSL's error means.
    private static func reason(_ error: any Error) -> String {
        let text = "\(error)"
        let meanings = [
            ("WRONG_VERSION_NUMBER", "it speaks no TLS"), ("HTTP_REQUEST", "it speaks HTTP"),
            ("UNSUPPORTED_PROTOCOL", "it speaks an older TLS"), ("PROTOCOL_VERSION", "it speaks an older TLS"),
            ("PEER_DID_NOT_RETURN_A_CERTIFICATE", "it has no certificate"),
            ("CERTIFICATE_REQUIRED", "it wants another certificate"),
            ("EOF during handshake", "it ended the connection"), ("uncleanShutdown", "it ended the connection"),
        ]
        return meanings.first { text.contains($0.0) }?.1 ?? "the handshake failed"
    }

    private func end(_ result: Result<PeerTLS.Peer, PeerRefusal>) {
        guard !isOver else { return }
        isOver = true
        timer?.cancel()
        promise.completeWith(result.mapError { $0 as any Error })
    }
}
#endif
