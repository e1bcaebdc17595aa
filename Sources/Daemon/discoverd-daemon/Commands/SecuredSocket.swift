#if Commands
internal import CommandFrame
internal import DiscoverdCommands
internal import DiscoverySystem
internal import DiscoveryTLS
internal import Libc
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import PeerIdentity

/// A connection with TLS whose content is on a pair of local sockets: one for the command, one for the bridge.
enum SecuredSocket {
    /// Why there is none.
    struct Failure: Error {
        let cause: any Error
    }

    /// Ends early when its task is cancelled.
    static func secure(
        _ socket: Int32, _ role: TLSRole, _ tls: PeerTLS
    ) async throws(Failure) -> (SecuredConnection, PeerTLS.Peer) {
        let ours: Int32
        let theirs: Int32
        do throws(SystemError) {
            (ours, theirs) = try pair()
        } catch {
            close(socket)
            throw Failure(cause: CommandError(.systemError, "no socket for TLS: \(error)"))
        }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let peer = loop.makePromise(of: PeerTLS.Peer.self)
        let failure = Locked<(any Error)?>(nil)
        let joined = loop.flatSubmit {
            join(ours, role, tls, peer, on: loop) { error in
                failure.withLock { $0 = $0 ?? error }
            } connecting: {
                bootstrap(loop, $0).withConnectedSocket(socket)
            } unused: {
                close(socket)
            }
        }
        do {
            let known = try await withTaskCancellationHandler {
                _ = try await joined.get()
                return try await peer.futureResult.get()
            } onCancel: {
                peer.fail(CancellationError())
                joined.whenSuccess { outer, _ in outer.close(promise: nil) }
            }
            let (outer, inner) = try await joined.get()
            let link = SecuredConnection(descriptor: theirs, peer: known.name, key: known.key) {
                _ = try? await outer.closeFuture.and(inner.closeFuture).get()
                let own = role == .answering ? nil : tls.identity
                return failure.withLock { $0 }.map { CommandError(ofTLS: $0, to: own) }
            }
            return (link, known)
        } catch {
            close(theirs)
            throw Failure(cause: error)
        }
    }

    /// Two sockets, connected with each other.
    static func pair() throws(SystemError) -> (Int32, Int32) {
        var pair: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0
        else { throw SystemError(errno) }
        return (pair[0], pair[1])
    }

    /// One of two sockets, whose other one is joined to a connection with TLS that has begun: what is written waits for it, and where there is none, it ends.
    /// - Parameter failed: called with what ended it early, before it ends.
    static func connecting(
        to host: String, _ port: Int, calling name: PeerName, _ tls: PeerTLS,
        connected: @escaping @Sendable (NIOCore.SocketAddress?) -> Void,
        failed: @escaping @Sendable (any Error) -> Void
    ) throws(SystemError) -> Int32 {
        let (ours, theirs) = try pair()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let peer = loop.makePromise(of: PeerTLS.Peer.self)
        loop.execute {
            let joined = join(ours, .calling(name), tls, peer, on: loop, failed) { secure in
                // A name may have several addresses: TLS is for the one that answers.
                bootstrap(loop) { $0.eventLoop.makeSucceededVoidFuture() }
                    .connectTimeout(.seconds(10)).channelOption(.socketOption(.so_keepalive), value: 1)
                    .channelOption(.tcpOption(Keepalive.idle), value: Keepalive.seconds)
                    .connect(host: host, port: port).flatMap { channel in secure(channel).map { channel } }
            } unused: {
            }
            joined.whenSuccess { outer, _ in connected(outer.remoteAddress) }
        }
        return theirs
    }

    /// Both channels, joined; on the event loop.
    private static func join(
        _ ours: Int32, _ role: TLSRole, _ tls: PeerTLS,
        _ peer: EventLoopPromise<PeerTLS.Peer>, on loop: any NIOCore.EventLoop,
        _ failed: @escaping @Sendable (any Error) -> Void,
        connecting: @escaping @Sendable (@escaping Securing) -> EventLoopFuture<any Channel>,
        unused: @escaping @Sendable () -> Void
    ) -> EventLoopFuture<(any Channel, any Channel)> {
        let bridges = Bridge.pair(failed)
        let outside = NIOLoopBound(bridges.0, eventLoop: loop)
        let inside = NIOLoopBound(bridges.1, eventLoop: loop)
        let inner = bootstrap(loop) { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(inside.value) }
        }.withConnectedSocket(ours)
        // Then the other is in nobody's hands.
        inner.whenFailure { _ in unused() }
        return inner.flatMap { inner in
            connecting { channel in
                watchPeer(channel)
                let secured =
                    switch role {
                    case .calling(let name): tls.secure(channel, calling: name)
                    case .meeting: tls.secure(meeting: channel)
                    case .answering: tls.secure(answering: channel)
                    }
                return secured.flatMapThrowing {
                    PeerTLS.peer(of: channel).cascade(to: peer)
                    try channel.pipeline.syncOperations.addHandler(outside.value)
                }
            }.map { ($0, inner) }.flatMapErrorThrowing { error in
                failed(error)
                inner.close(promise: nil)
                throw error
            }
        }.flatMapErrorThrowing { error in
            peer.fail(error)
            throw error
        }
    }

    /// Ends the connection when its host is gone, also while something is sent: `PeerWatch` no longer has it.
    private static func watchPeer(_ channel: any Channel) {
        let period = TimeAmount(Sockets.windowPeriod)
        let watch = channel.eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in
            _ = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
                Sockets.followWindow(of: $0)
            }
        }
        channel.closeFuture.whenComplete { _ in watch.cancel() }
    }

    private typealias Securing = @Sendable (any Channel) -> EventLoopFuture<Void>

    private static func bootstrap(_ loop: any NIOCore.EventLoop, _ initialize: @escaping Securing) -> ClientBootstrap {
        ClientBootstrap(group: loop).channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer(initialize)
    }
}

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
        // The other end did not wait for it.
        guard !isDone else { return context.close(promise: nil) }
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

    /// Ends its output after everything that was given to it.
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

extension CommandError {
    /// What became of a connection with TLS.
    /// - Parameter own: this machine, if it was the caller; nil otherwise.
    init(ofTLS error: any Error, to own: MachineIdentity? = nil) {
        if let error = error as? CommandError {
            self = error
            return
        }
        guard let refusal = error as? PeerRefusal else {
            self.init(.ioError, "the connection was lost: it ended without a word, and something may be missing")
            return
        }
        var advice = refusal.advice
        if refusal == .refusedByPeer, let own, !own.label.isEmpty {
            advice = [
                "If it does not know this machine's key, there:",
                "  discoverd key add \(PeerName.label(own.label).quotedForShell) \(own.fingerprint)",
            ]
        }
        self.init(ExitStatus(rawValue: refusal.exitStatus), refusal.headline, advice: advice)
    }
}

/// Keeps the key that each name had last, which `browse` and `resolve` compare with the known one.
enum LastKeys {
    /// Notes the key of a peer that was dialled. A connection does not depend on it.
    static func note(_ peer: PeerTLS.Peer, in directory: String) async {
        if case .label = peer.name { return }
        try? await NIOThreadPool.singleton.runIfActive {
            let file = KnownPeersFile(path: "\(directory)/\(KnownPeersFile.lastKeysName)").withHashes
            // Seldom is it another.
            guard try file.read().keys(of: peer.name) != [peer.key] else { return }
            let known = KnownPeersFile(path: "\(directory)/\(KnownPeersFile.name)").withHashes
            let hashes = try known.read().isHashed
            try file.change { last in
                last.replace(KnownPeers.Peer(peer.name, peer.key), atMost: KnownPeers.mostLastKeys)
                if hashes { _ = last.hashNames() }
            }
        }
    }
}

extension PeerRefusal {
    /// The peer that was refused for the key or certificate that it showed. No handshake has proven it, so it is only a hint.
    var shown: PeerTLS.Peer? {
        switch self {
        case .changed(let name, _, let key), .unknown(let name, let key), .foreign(let name, let key),
            .uncertified(let name, let key), .misnamed(let name, let key), .expired(let name, let key):
            PeerTLS.Peer(name: name, key: key, isNew: false)
        case .unreadable, .unreadableFile, .refusedByPeer, .noTLS, .timedOut: nil
        }
    }
}
#endif
