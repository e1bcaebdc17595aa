internal import DiscoverySystem
package import NIOCore

/// Tells when a connection is active: no sooner may the listener be closed, or SwiftNIO closes the connection, too.
package final class Arrival: ChannelInboundHandler {
    package typealias InboundIn = NIOAny

    private let arrived: (any Channel) -> Void
    private let ended: () -> Void
    private var hasArrived = false

    /// - Parameter ended: called when the connection ends before it arrived.
    package init(orNever ended: @escaping () -> Void = {}, _ arrived: @escaping (any Channel) -> Void) {
        self.arrived = arrived
        self.ended = ended
    }

    package func channelActive(context: ChannelHandlerContext) {
        // It is told again, to the caller's handlers, when there is somebody to read.
        if !hasArrived { arrived(context.channel) }
        hasArrived = true
        context.fireChannelActive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        if !hasArrived { ended() }
    }

    /// It came by an interface that is not to be used, or that the system does not name.
    struct Refused: Error {}

    /// Checks by which interface a connection came, on its event loop.
    /// - Throws: `Refused`.
    static func check(_ channel: any Channel, _ limit: InterfaceLimit?) throws {
        guard let limit else { return }
        let isMeant = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            limit.admits($0)
        }
        guard isMeant == true else { throw Refused() }
    }
}
