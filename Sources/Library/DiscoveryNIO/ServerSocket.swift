public import DNSSD
internal import DiscoverySystem
import Libc
public import NIOCore
public import NIOPosix

/// Listening sockets: one for IPv6 and IPv4, or for IPv4 alone if there is no IPv6.
public enum ServerSocket {
    /// Why listening failed.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The family that could not be bound; nil if no socket of either family was available.
        public let family: IPAddress.Family?
        /// The system's error, as in `errno`.
        public let errnoCode: CInt

        /// The family and the system's message.
        public var description: String {
            let reason = SystemError.text(errnoCode)
            return switch family {
            case .ipv4: "could not bind v4: \(reason)"
            case .ipv6: "could not bind v6: \(reason)"
            case nil: "no sockets available: \(reason)"
            }
        }

        init(_ family: IPAddress.Family, _ error: IOError) {
            // Errors of socket(2) that bind(2) does not have.
            let isSocket = [EAFNOSUPPORT, EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode)
            self.family = isSocket ? nil : family
            errnoCode = error.errnoCode
        }
    }

    /// Listens on every address without publishing anything; `LocalNetwork.withListener` does both.
    /// - Parameters:
    ///   - port: nil takes a free one.
    ///   - interfaces: the interfaces that connections may use; clients on others get no answer. A connection from this machine counts as
    ///     using the interface that owns its destination address, and is closed if that is another.
    ///   - family: nil for both.
    ///   - group: the event loops of the connections.
    ///   - initializer: returns the representation of a connection for the caller.
    /// - Throws: `Failure`.
    public static func listen<Connection: Sendable>(
        port: Port? = nil,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Connection>
    ) async throws -> ServerConnections<Connection> {
        let accepted = AcceptedChannels()
        let channel = try await accept(into: accepted, port: port, on: interfaces, over: family, group: group)
        accepted.closes(with: channel)
        return ServerConnections(
            channel: channel, connections: IncomingConnections(accepted: accepted, initializer: initializer))
    }

    /// Listens on every address for connections that wait in `accepted`, which the caller lets close with the channel.
    /// - Throws: `Failure`.
    static func accept(
        into accepted: AcceptedChannels,
        port: Port?,
        on interfaces: InterfaceFilter,
        over family: IPAddress.Family?,
        group: any EventLoopGroup
    ) async throws -> any Channel {
        let limit = InterfaceLimit(interfaces)
        return try await everywhere(family, limit, group) { bootstrap, host in
            try await bootstrap.childChannelOption(.autoRead, value: false)
                // Otherwise the end of the other side's output would close the connection before it is used.
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try ArrivalHandler.check(channel, limit)
                        KeepAlive.watch(channel)
                        try channel.pipeline.syncOperations.addHandlers(
                            EarlyInput(), ArrivalHandler { accepted.add($0) })
                    }
                }
                .bind(to: try address(host, port)).get()
        }
    }

    /// Listens on every address; `initializer` alone handles each connection.
    /// - Throws: `Failure`.
    static func listenWithHandlers(
        port: Port?,
        on interfaces: InterfaceFilter,
        over family: IPAddress.Family?,
        group: any EventLoopGroup,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) async throws -> any Channel {
        let limit = InterfaceLimit(interfaces)
        return try await everywhere(family, limit, group) { bootstrap, host in
            try await bootstrap.childChannelInitializer { channel in
                do {
                    try ArrivalHandler.check(channel, limit)
                    KeepAlive.watch(channel)
                } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
                return initializer(channel)
            }
            .bind(to: try address(host, port)).get()
        }
    }

    /// By address, because looking `::` up fails if there is no IPv6.
    private static func address(_ host: String, _ port: Port?) throws -> NIOCore.SocketAddress {
        try NIOCore.SocketAddress(ipAddress: host, port: Int(port?.rawValue ?? 0))
    }

    private static func everywhere<Bound>(
        _ family: IPAddress.Family?,
        _ limit: InterfaceLimit?,
        _ group: any EventLoopGroup,
        _ bind: (_ bootstrap: sending ServerBootstrap, _ host: String) async throws -> Bound
    ) async throws -> Bound {
        guard family != .ipv4 else { return try await bindIPv4(limit, group, bind) }
        let v6only = ChannelOptions.Types.SocketOption(level: .ipv6, name: .ipv6_v6only)
        do {
            let dual = bootstrap(limit, group).serverChannelOption(v6only, value: family == nil ? 0 : 1)
            return try await bind(dual, "::")
        } catch let error as IOError where family == nil && [EAFNOSUPPORT, EADDRNOTAVAIL].contains(error.errnoCode) {
            // There is no IPv6. A bootstrap is an object, so the other one keeps its IPv6 option.
            return try await bindIPv4(limit, group, bind)
        } catch let error as IOError {
            throw Failure(.ipv6, error)
        }
    }

    private static func bindIPv4<Bound>(
        _ limit: InterfaceLimit?,
        _ group: any EventLoopGroup,
        _ bind: (_ bootstrap: sending ServerBootstrap, _ host: String) async throws -> Bound
    ) async throws -> Bound {
        do {
            return try await bind(bootstrap(limit, group), "0.0.0.0")
        } catch let error as IOError {
            throw Failure(.ipv4, error)
        }
    }

    private static func bootstrap(_ limit: InterfaceLimit?, _ group: any EventLoopGroup) -> ServerBootstrap {
        KeepAlive.options.reduce(
            ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 128)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                // IP_PKTINFO of <linux/in.h>, for `ArrivalHandler` on an IPv4 socket; IPv6 sockets need no option.
                .serverChannelOption(ChannelOptions.Types.SocketOption(level: .ip, name: .init(rawValue: 8)), value: 1)
                .serverChannelInitializer { server in
                    limit.map { hold($0, for: server) } ?? server.eventLoop.makeSucceededVoidFuture()
                }
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        ) { $0.childChannelOption($1.option, value: $1.value) }
    }
}

/// Binds a listening channel to interfaces, including those that appear later.
extension ServerSocket {
    /// Applies a limit to a channel that is not bound yet, and maintains it until the channel is closed. Call it on the channel's event
    /// loop.
    static func hold(_ limit: InterfaceLimit, for server: any Channel) -> EventLoopFuture<Void> {
        // Watch before listing, so that no change is missed.
        SystemChanges.watch(InterfaceLimit.watch(), gathering: nil, on: server.eventLoop, until: server.closeFuture) {
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

/// Reports when a connection is active: if the listener is closed sooner, SwiftNIO closes the connection too.
final class ArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private let arrived: (any Channel) -> Void
    private var hasArrived = false

    init(_ arrived: @escaping (any Channel) -> Void) { self.arrived = arrived }

    func channelActive(context: ChannelHandlerContext) {
        // It is reported again, to the caller's handlers, once someone reads.
        if !hasArrived { arrived(context.channel) }
        hasArrived = true
        context.fireChannelActive()
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
