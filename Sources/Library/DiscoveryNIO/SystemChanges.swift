internal import Libc
internal import NIOCore
internal import NIOPosix

/// Tells of changes of interfaces, and perhaps addresses. Used on one event loop.
final class SystemChanges: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Changes within this time can be taken together: an interface that comes up gets several addresses and routes.
    static let gathering = TimeAmount.milliseconds(150)

    private let changed: () -> Void

    private init(_ changed: @escaping () -> Void) { self.changed = changed }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func channelReadComplete(context: ChannelHandlerContext) { changed() }

    /// Watches until `end` completes.
    /// - Parameters:
    ///   - descriptor: a netlink socket, which belongs to the watch from then on; negative where there is none.
    ///   - changed: called on `loop`.
    static func watch(
        _ descriptor: Int32, on loop: any EventLoop, until end: EventLoopFuture<Void>,
        _ changed: @escaping @Sendable () -> Void
    ) -> EventLoopFuture<Void> {
        guard descriptor >= 0 else { return loop.makeFailedFuture(IOError(errnoCode: errno, reason: "netlink")) }
        return NIOPipeBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(SystemChanges(changed))
                }
            }
            .takingOwnershipOfDescriptor(input: descriptor)
            .flatMapErrorThrowing { error in
                close(descriptor)
                throw error
            }
            .map { watch in end.whenComplete { _ in watch.close(promise: nil) } }
    }
}
