#if Commands
internal import CommandFrame
internal import DiscoverdCommands
internal import DiscoveryTLS
internal import Libc
internal import PeerIdentity
internal import NIOCore
internal import NIOPosix
internal import DiscoverySystem

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
        var pair: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0
        else {
            let code = errno
            close(socket)
            throw Failure(cause: CommandError(.systemError, "no socket for TLS: \(SystemError.text(code))"))
        }
        let (ours, theirs) = (pair[0], pair[1])
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let peer = loop.makePromise(of: PeerTLS.Peer.self)
        let failure = Locked<(any Error)?>(nil)
        let joined = loop.flatSubmit {
            join(socket, ours, role, tls, peer, on: loop) { error in failure.withLock { $0 = $0 ?? error } }
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

    /// Both channels, joined; on the event loop.
    private static func join(
        _ socket: Int32, _ ours: Int32, _ role: TLSRole, _ tls: PeerTLS,
        _ peer: EventLoopPromise<PeerTLS.Peer>, on loop: any NIOCore.EventLoop,
        _ failed: @escaping @Sendable (any Error) -> Void
    ) -> EventLoopFuture<(any Channel, any Channel)> {
        let bridges = Bridge.pair(failed)
        let outside = NIOLoopBound(bridges.0, eventLoop: loop)
        let inside = NIOLoopBound(bridges.1, eventLoop: loop)
        let inner = channel(ours, loop) { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(inside.value) }
        }
        // Then the other is in nobody's hands.
        inner.whenFailure { _ in close(socket) }
        return inner.flatMap { inner in
            channel(socket, loop) { channel in
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
            }.map { ($0, inner) }
        }.flatMapErrorThrowing { error in
            peer.fail(error)
            throw error
        }
    }

    private static func channel(
        _ descriptor: Int32, _ loop: any NIOCore.EventLoop,
        _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: loop).channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer(initialize).withConnectedSocket(descriptor)
    }
}
#endif
