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
        SystemChanges.watch(InterfaceLimit.watch(), on: server.eventLoop, until: server.closeFuture) {
            try? apply(limit, to: server)
        }
        .flatMapThrowing { try apply(limit, to: server) }
    }

    private static func apply(_ limit: InterfaceLimit, to server: any Channel) throws {
        let code = try server.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            limit.apply(to: $0)
        }
        guard code == 0 else { throw IOError(errnoCode: code ?? EOPNOTSUPP, reason: "a filter of interfaces") }
    }
}
