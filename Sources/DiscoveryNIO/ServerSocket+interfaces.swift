internal import DiscoverySystem
internal import Libc
internal import NIOCore
internal import NIOPosix

/// Binds a listening channel to interfaces, including those that appear later.
extension ServerSocket {
    /// Applies a limit to a channel that is not bound yet, and maintains it until the channel is closed. Call it on the channel's event
    /// loop.
    static func hold(_ limit: InterfaceLimit, for server: any Channel) -> EventLoopFuture<Void> {
        // Watch before listing, so that no change is missed.
        let changes = InterfaceLimit.watch()
        guard changes >= 0 else {
            return server.eventLoop.makeFailedFuture(IOError(errnoCode: errno, reason: "netlink"))
        }
        return NIOPipeBootstrap(group: server.eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(InterfaceChanges(limit, server))
                }
            }
            .takingOwnershipOfDescriptor(input: changes)
            .flatMapErrorThrowing { error in
                close(changes)
                throw error
            }
            .flatMapThrowing { watch in
                server.closeFuture.whenComplete { _ in watch.close(promise: nil) }
                try apply(limit, to: server)
            }
    }

    fileprivate static func apply(_ limit: InterfaceLimit, to server: any Channel) throws {
        let code = try server.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            limit.apply(to: $0)
        }
        guard code == 0 else { throw IOError(errnoCode: code ?? EOPNOTSUPP, reason: "a filter of interfaces") }
    }
}

/// Applies a limit again after interfaces have changed. Used on the channel's event loop, which is also the listening channel's.
private final class InterfaceChanges: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let limit: InterfaceLimit
    private let server: any Channel

    init(_ limit: InterfaceLimit, _ server: any Channel) {
        self.limit = limit
        self.server = server
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func channelReadComplete(context: ChannelHandlerContext) { try? ServerSocket.apply(limit, to: server) }
}
