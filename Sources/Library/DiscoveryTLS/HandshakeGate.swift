#if TLS
internal import DNSSD
internal import DiscoverySystem
internal import NIOCore
internal import NIOSSL
internal import NIOTLS
internal import PeerIdentity

/// Lets nothing pass in either direction before the peer's key was judged and the handshake has proven that it is the peer's, and says how that
/// ended.
///
/// A resumed session brings no certificate, so it is refused here. Touched by its channel's event loop only.
final class HandshakeGate: ChannelDuplexHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

    private enum State { case shut, open, refused }

    /// The peer; fails with `PeerRefusal`.
    let peer: EventLoopFuture<PeerTLS.Peer>
    private let promise: EventLoopPromise<PeerTLS.Peer>
    private let verification: PeerVerification
    private let limit: Duration
    private var state = State.shut
    private var timer: Scheduled<Void>?
    private var context: ChannelHandlerContext?
    private var isProven = false
    /// Called at each step that the peer takes.
    var advanced: () -> Void = {}
    private var wantsToRead = false
    private var heard: [NIOAny] = []
    private var isInputClosed = false
    private var said: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []

    init(_ verification: PeerVerification, _ loop: any NIOCore.EventLoop, within limit: Duration) {
        self.verification = verification
        self.limit = limit
        promise = loop.makePromise()
        peer = promise.futureResult
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        wait(limit)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end(.failure(.noTLS("the connection ended")))
        self.context = nil
    }

    /// Gives it so long from now.
    private func wait(_ limit: Duration) {
        guard state == .shut, let context else { return }
        timer?.cancel()
        let gate = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: TimeAmount(limit)) { gate.value.end(.failure(.timedOut)) }
    }

    /// The peer's first message was whole, or it has shown a certificate: it may have so long from now.
    func advance(_ limit: Duration) {
        wait(limit)
        advanced()
    }

    // MARK: From the peer

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .some(.handshakeCompleted) = event as? TLSUserEvent { prove(context) }
        if state == .shut, case .some(.inputClosed) = event as? ChannelEvent {
            isInputClosed = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .shut: heard.append(data)
        case .open: context.fireChannelRead(data)
        case .refused: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let refusal = error as? PeerRefusal ?? PeerRefusal(alert: error)
        guard state == .shut else { return context.fireErrorCaught(refusal ?? error) }
        if case .failure(let judged) = verification.result { return end(.failure(judged)) }
        end(.failure(refusal ?? PeerRefusal(handshake: error)))
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.failure(.noTLS("it ended the connection")))
        context.fireChannelInactive()
    }

    // MARK: To the peer

    func read(context: ChannelHandlerContext) {
        // Until then the handshake reads.
        if isProven, state == .shut { wantsToRead = true } else { context.read() }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch state {
        case .shut: said.append((data, promise))
        case .open: context.write(data, promise: promise)
        case .refused: promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .all, state == .shut else { return context.close(mode: mode, promise: promise) }
        // A person is asked no more.
        end(.failure(.noTLS("this side ended the connection")), closing: promise)
    }

    // MARK: The end of it

    /// The peer has the key that it showed: what was judged counts, and is written down where it is new.
    private func prove(_ context: ChannelHandlerContext) {
        guard !isProven else { return }
        isProven = true
        let gate = NIOLoopBound(self, eventLoop: context.eventLoop)
        verification.conclude(on: context.eventLoop).whenSuccess { result in gate.value.end(result) }
    }

    private func end(_ result: Result<PeerTLS.Peer, PeerRefusal>, closing closed: EventLoopPromise<Void>? = nil) {
        guard state == .shut else { return }
        timer?.cancel()
        switch result {
        case .success(let peer):
            state = .open
            promise.succeed(peer)
            open()
        case .failure(let refusal):
            state = .refused
            verification.abandon()
            heard = []
            for (_, promise) in said { promise?.fail(ChannelError.ioOnClosedChannel) }
            said = []
            promise.fail(refusal)
            context?.fireErrorCaught(refusal)
            if let context { context.close(promise: closed) } else { closed?.succeed() }
        }
    }

    private func open() {
        guard let context else { return }
        for (data, promise) in said { context.write(data, promise: promise) }
        if !said.isEmpty { context.flush() }
        for data in heard { context.fireChannelRead(data) }
        if !heard.isEmpty { context.fireChannelReadComplete() }
        (said, heard) = ([], [])
        if isInputClosed { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
        if wantsToRead { context.read() }
    }
}

/// The connections that were accepted and have not proven a key yet: anyone can begin one and say nothing. Where there are too many, one of the
/// greediest address is closed.
final class HandshakeRoom: Sendable {
    private static let limit = 256

    private struct State {
        var newcomers = Newcomers(limit: HandshakeRoom.limit)
        var channels: [UInt64: any Channel] = [:]
    }

    private let state = Locked(State())

    /// Counts a connection until its handshake has ended.
    /// - Returns: to be called when its first message was whole, and when it has shown a certificate.
    func enter(_ channel: any Channel, until end: EventLoopFuture<PeerTLS.Peer>) -> @Sendable () -> Void {
        let address = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
        let (id, displaced) = state.withLock { state -> (UInt64, (any Channel)?) in
            let (id, displaced) = state.newcomers.came(from: address)
            state.channels[id] = channel
            return (id, displaced.flatMap { state.channels.removeValue(forKey: $0) })
        }
        displaced?.close(promise: nil)
        end.whenComplete { [state] _ in
            state.withLock { state in
                state.newcomers.left(id)
                state.channels[id] = nil
            }
        }
        return { [state] in state.withLock { $0.newcomers.advanced(id) } }
    }
}
#endif
