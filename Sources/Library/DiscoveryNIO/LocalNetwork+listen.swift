public import DNSSD
public import Discovery
public import NIOCore
public import NIOPosix

extension LocalNetwork {
    /// Listens for IPv6 and IPv4 with one socket (IPv4 alone if there is no IPv6, or for `family`), and publishes the port.
    /// - Parameters:
    ///   - name: the service's name.
    ///   - type: the service's type, a `_tcp`.
    ///   - domain: where it is published.
    ///   - port: nil takes a free one.
    ///   - txt: the service's TXT record.
    ///   - interfaces: where to announce the service, and which interfaces connections may use; clients on others get no answer.
    ///   - family: nil for both.
    ///   - policy: what happens when the name is taken.
    ///   - group: the event loops of the connections.
    ///   - initializer: builds the pipeline of each connection.
    /// - Throws: `ServerSocket.Failure`, `DiscoveryError.invalidServiceType` for a type `_udp`; the listener's publication reports collisions.
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
        try type.checkHasConnections(insteadOf: "listenForDatagrams")
        let channel = try await ServerSocket.listenWithHandlers(
            port: port, on: interfaces, over: family, group: group, initializer: initializer)
        return try await publish(channel, name, type, domain, txt, interfaces, family, policy)
    }

    /// Listens and publishes while `body` runs, and lends it the connections as they arrive.
    ///
    /// `initializer` returns the representation of a connection for `body`, often a `NIOAsyncChannel`. It runs when `body` takes the
    /// connection; connections that `body` does not take are closed.
    /// - Throws: `ServerSocket.Failure`, `DiscoveryError.invalidServiceType` for a type `_udp`, and the errors of `body`.
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
        _ body: (PublishedListener, IncomingConnections<Connection>) async throws -> Result
    ) async throws -> Result {
        try type.checkHasConnections(insteadOf: "listenForDatagrams")
        let server = try await ServerSocket.listen(
            port: port, on: interfaces, over: family, group: group, initializer: initializer)
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

    /// Publishes what a channel listens for.
    func publish(
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
        let service = OfferedService(
            name: name, type: type, domain: domain, port: port, txt: txt, interfaces: interfaces, family: family)
        return PublishedListener(channel: channel, port: port, publication: publish(service, onConflict: policy))
    }
}

/// A listening socket and its service, published at the actual port and withdrawn when the socket closes.
public final class PublishedListener: Sendable {
    /// The listening channel; closing it also withdraws the service.
    public let channel: any Channel
    /// The port it listens on.
    public let port: Port
    /// The service: its state, and its name after a collision.
    public let publication: Publication

    init(channel: any Channel, port: Port, publication: Publication) {
        (self.channel, self.port, self.publication) = (channel, port, publication)
        channel.closeFuture.whenComplete { _ in
            // Unstructured, because no one waits for a channel that something else closed.
            Task { await publication.withdraw() }
        }
    }

    deinit { channel.close(promise: nil) }

    /// Waits until the service is announced.
    /// - Returns: the published name, which a collision may have changed.
    /// - Throws: as `Publication.established()`.
    public func established() async throws(DiscoveryError) -> ServiceName { try await publication.established() }

    /// Stops accepting, and says goodbye; returns when both are done. Open connections continue.
    public func close() async {
        // Withdraw first, so that no one finds a closed port.
        await publication.withdraw()
        try? await channel.close()
    }
}
