public import DNSSD
public import Discovery
public import NIOCore
public import NIOPosix

extension LocalNetwork {
    /// Listens for IPv6 and IPv4 with one socket (IPv4 alone where there is no IPv6, or for `family`), and publishes the port.
    /// - Parameters:
    ///   - port: nil takes a free one.
    ///   - initializer: builds the pipeline of each connection.
    /// - Throws: what binding fails with; collisions show in the listener's publication.
    public func listen(
        _ name: ServiceName,
        type: ServiceType,
        in domain: Domain = .local,
        port: Port? = nil,
        txt: TXTRecord = TXTRecord(),
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        onConflict policy: ConflictPolicy = .rename,
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) async throws -> PublishedListener {
        let bootstrap = Self.bootstrap(group).childChannelInitializer(initializer)
        let channel = try await Self.bind(family) { host, isDual in
            let bootstrap = isDual.map { bootstrap.serverChannelOption(Self.v6only, value: $0 ? 0 : 1) } ?? bootstrap
            return try await bootstrap.bind(to: try SocketAddress(ipAddress: host, port: Int(port?.rawValue ?? 0)))
                .get()
        }
        return try await publish(channel, name, type, domain, txt, interfaces, family, policy)
    }

    /// Listens and publishes while `body` runs, which is given the connections as they come.
    ///
    /// `initializer` returns what a connection is to `body`: often a `NIOAsyncChannel`.
    /// - Throws: what binding or `body` fails with.
    public func withListener<Connection: Sendable, Result>(
        _ name: ServiceName,
        type: ServiceType,
        in domain: Domain = .local,
        port: Port? = nil,
        txt: TXTRecord = TXTRecord(),
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        onConflict policy: ConflictPolicy = .rename,
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Connection>,
        _ body: (PublishedListener, NIOAsyncChannelInboundStream<Connection>) async throws -> Result
    ) async throws -> Result {
        let server = try await Self.bind(family) { host, isDual in
            let plain = Self.bootstrap(group)
            let bootstrap = isDual.map { plain.serverChannelOption(Self.v6only, value: $0 ? 0 : 1) } ?? plain
            return try await bootstrap.bind(
                to: try SocketAddress(ipAddress: host, port: Int(port?.rawValue ?? 0)),
                childChannelInitializer: initializer)
        }
        let listener = try await publish(server.channel, name, type, domain, txt, interfaces, family, policy)
        do {
            let result = try await server.executeThenClose { connections in try await body(listener, connections) }
            await listener.close()
            return result
        } catch {
            await listener.close()
            throw error
        }
    }

    private static var v6only: ChannelOptions.Types.SocketOption {
        ChannelOptions.Types.SocketOption(level: .ipv6, name: .ipv6_v6only)
    }

    private static func bootstrap(_ group: any EventLoopGroup) -> ServerBootstrap {
        KeepAlive.options.reduce(
            ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 128)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        ) { $0.childChannelOption($1.option, value: $1.value) }
    }

    /// - Parameter bind: is given the address (not a name: looking `::` up fails where there is no IPv6), and for IPv6 whether it takes IPv4, too.
    private static func bind<Bound>(
        _ family: IPAddress.Family?,
        _ bind: (_ host: String, _ isDual: Bool?) async throws -> Bound
    ) async throws -> Bound {
        guard family != .ipv4 else { return try await bind("0.0.0.0", nil) }
        do {
            return try await bind("::", family == nil)
        } catch let error as IOError where family == nil && [97, 99].contains(error.errnoCode) {
            // EAFNOSUPPORT, EADDRNOTAVAIL: there is no IPv6.
            return try await bind("0.0.0.0", nil)
        }
    }

    private func publish(
        _ channel: any Channel,
        _ name: ServiceName,
        _ type: ServiceType,
        _ domain: Domain,
        _ txt: TXTRecord,
        _ interfaces: InterfaceFilter,
        _ family: IPAddress.Family?,
        _ policy: ConflictPolicy
    ) async throws -> PublishedListener {
        let port = try Port(channel.localAddress?.port ?? 0)
        let service = Service(
            name: name, type: type, domain: domain, port: port, txt: txt, interfaces: interfaces, family: family)
        return PublishedListener(channel: channel, port: port, publication: publish(service, onConflict: policy))
    }
}
