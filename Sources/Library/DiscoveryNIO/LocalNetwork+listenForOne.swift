public import DNSSD
public import Discovery
public import NIOCore
public import NIOPosix

extension LocalNetwork {
    /// Listens and publishes as `listen` does, for a single connection: the first one goes to the waiting caller, closes the listener and
    /// withdraws the service; others that arrive meanwhile are closed without a byte.
    ///
    /// Linux tells some clients nothing whose handshake ends in the moment in which the listener closes (seen with 6.18, also without this library):
    /// they learn it when they send, or by keepalive, which connections of this module have after 10 s.
    ///
    /// `initializer` runs only for that connection; the channel becomes active afterwards.
    /// - Throws: as `listen`; the listener's publication reports collisions.
    public func listenForOne<Connection: Sendable>(
        _ name: ServiceName,
        type: ServiceType,
        in domain: Domain = .local,
        port: Port? = nil,
        txt: TXTRecord = TXTRecord(),
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        onConflict policy: ConflictPolicy = .rename,
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Connection>
    ) async throws -> SingleListener<Connection> {
        try type.checkHasConnections(insteadOf: "listenForDatagrams")
        let arrived = AcceptedChannels(isForOne: true)
        let channel = try await ServerSocket.accept(
            into: arrived, port: port, on: interfaces, over: family, group: group)
        let listener = try await publish(channel, name, type, domain, txt, interfaces, family, policy)
        return SingleListener(listener: listener, arrived: arrived, initializer: initializer)
    }
}

/// A listener for one connection.
public final class SingleListener<Connection: Sendable>: Sendable {
    /// The socket and the service.
    public let listener: PublishedListener
    /// The service: its state, and its name after a collision.
    public var publication: Publication { listener.publication }
    private let arrived: AcceptedChannels
    private let initializer: @Sendable (any Channel) -> EventLoopFuture<Connection>

    fileprivate init(
        listener: PublishedListener, arrived: AcceptedChannels,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Connection>
    ) {
        (self.listener, self.arrived, self.initializer) = (listener, arrived, initializer)
        // Only now: one that has arrived already closes the socket, whose port was to be published.
        arrived.closes(with: listener.channel)
    }

    deinit { arrived.end() }

    /// Waits for the connection. For use by one task, once.
    /// - Throws: `DiscoveryError.closed` if the task is cancelled or `close` came first; the errors of `initializer`.
    public func connection() async throws -> Connection {
        if let channel = await arrived.next() { return try await NIODialer.activate(channel, initializer) }
        throw DiscoveryError(.closed, "nobody waits for a connection to \(publication.service.name) any more")
    }

    /// Stops accepting, and says goodbye; returns when both are done.
    /// - Returns: a connection that arrived but that no one waited for; it belongs to the caller.
    public func close() async -> Connection? {
        let channel = arrived.takeRest().first
        await listener.close()
        guard let channel else { return nil }
        return try? await NIODialer.activate(channel, initializer)
    }
}
