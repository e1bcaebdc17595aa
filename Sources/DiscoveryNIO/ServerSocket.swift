public import DNSSD
import Glibc
public import NIOCore
public import NIOPosix
import System

/// Listening sockets: for IPv6 and IPv4 with one, IPv4 alone where there is no IPv6.
public enum ServerSocket {
    /// Why nothing listens.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The family that could not be bound; nil: there was no socket to be had, of either family.
        public let family: IPAddress.Family?
        /// What the system said, as in `errno`.
        public let errnoCode: CInt

        /// The family, and what the system said.
        public var description: String {
            let reason = SystemError.text(errnoCode)
            return switch family {
            case .ipv4: "could not bind v4: \(reason)"
            case .ipv6: "could not bind v6: \(reason)"
            case nil: "no sockets available: \(reason)"
            }
        }

        init(_ family: IPAddress.Family, _ error: IOError) {
            // What socket(2) fails with, and bind(2) does not.
            let isSocket = [EAFNOSUPPORT, EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode)
            self.family = isSocket ? nil : family
            errnoCode = error.errnoCode
        }
    }

    /// Listens on every address, without publishing anything: `LocalNetwork.withListener` does both.
    /// - Parameters:
    ///   - port: nil takes a free one.
    ///   - interfaces: by which connections may come; who connects by another gets no answer. One from this machine counts as
    ///     coming by the interface whose address it is for, and is closed if that is another.
    ///   - family: nil takes both.
    ///   - initializer: returns what a connection is to the caller.
    /// - Throws: `Failure`.
    public static func listen<Connection: Sendable>(
        port: Port? = nil,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Connection>
    ) async throws -> ServerConnections<Connection> {
        let accepted = AcceptedChannels()
        let limit = InterfaceLimit(interfaces)
        let channel = try await everywhere(family, limit, group) { bootstrap, host in
            try await bootstrap.childChannelOption(.autoRead, value: false)
                // Else the end of the other side's output would be the end of the connection before it is used.
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try Arrival.check(channel, limit)
                        try channel.pipeline.syncOperations.addHandlers(EarlyInput(), Arrival { accepted.add($0) })
                    }
                }
                .bind(to: try address(host, port)).get()
        }
        accepted.closes(with: channel)
        return ServerConnections(channel: channel, accepted: accepted, initializer: initializer)
    }

    /// Listens on every address, with nothing but what `initializer` does for each connection.
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
                    try Arrival.check(channel, limit)
                } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
                return initializer(channel)
            }
            .bind(to: try address(host, port)).get()
        }
    }

    /// By address and not by name: looking `::` up fails where there is no IPv6.
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
            // There is no IPv6. A bootstrap is an object: the other keeps its option of IPv6.
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
                // IP_PKTINFO of <linux/in.h>, for `Arrival` on a socket of IPv4; one of IPv6 knows without.
                .serverChannelOption(ChannelOptions.Types.SocketOption(level: .ip, name: .init(rawValue: 8)), value: 1)
                .serverChannelInitializer { server in
                    limit.map { hold($0, for: server) } ?? server.eventLoop.makeSucceededVoidFuture()
                }
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        ) { $0.childChannelOption($1.option, value: $1.value) }
    }
}
