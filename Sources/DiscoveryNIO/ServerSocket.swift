public import DNSSD
public import NIOCore
public import NIOPosix

/// Listening sockets: for IPv6 and IPv4 with one, IPv4 alone where there is no IPv6.
public enum ServerSocket {
    /// Listens on every address, without publishing anything: `LocalNetwork.withListener` does both.
    /// - Parameters:
    ///   - port: nil takes a free one.
    ///   - family: nil takes both.
    ///   - initializer: returns what a connection is to the caller.
    /// - Throws: what binding fails with.
    public static func listen<Connection: Sendable>(
        port: Port? = nil,
        over family: IPAddress.Family? = nil,
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Connection>
    ) async throws -> NIOAsyncChannel<Connection, Never> {
        try await everywhere(family, group) { bootstrap, host in
            try await bootstrap.bind(to: try address(host, port), childChannelInitializer: initializer)
        }
    }

    /// Listens on every address, with nothing but what `initializer` does for each connection.
    /// - Throws: what binding fails with.
    static func listenWithHandlers(
        port: Port?,
        over family: IPAddress.Family?,
        group: any EventLoopGroup,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) async throws -> any Channel {
        try await everywhere(family, group) { bootstrap, host in
            try await bootstrap.childChannelInitializer(initializer).bind(to: try address(host, port)).get()
        }
    }

    /// By address and not by name: looking `::` up fails where there is no IPv6.
    private static func address(_ host: String, _ port: Port?) throws -> SocketAddress {
        try SocketAddress(ipAddress: host, port: Int(port?.rawValue ?? 0))
    }

    private static func everywhere<Bound>(
        _ family: IPAddress.Family?,
        _ group: any EventLoopGroup,
        _ bind: (_ bootstrap: sending ServerBootstrap, _ host: String) async throws -> Bound
    ) async throws -> Bound {
        guard family != .ipv4 else { return try await bind(bootstrap(group), "0.0.0.0") }
        let v6only = ChannelOptions.Types.SocketOption(level: .ipv6, name: .ipv6_v6only)
        do {
            let dual = bootstrap(group).serverChannelOption(v6only, value: family == nil ? 0 : 1)
            return try await bind(dual, "::")
        } catch let error as IOError where family == nil && [97, 99].contains(error.errnoCode) {
            // EAFNOSUPPORT, EADDRNOTAVAIL: there is no IPv6. A bootstrap is an object: the other keeps its option of IPv6.
            return try await bind(bootstrap(group), "0.0.0.0")
        }
    }

    private static func bootstrap(_ group: any EventLoopGroup) -> ServerBootstrap {
        KeepAlive.options.reduce(
            ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 128)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        ) { $0.childChannelOption($1.option, value: $1.value) }
    }
}
