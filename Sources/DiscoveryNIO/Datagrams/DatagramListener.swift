public import DNSSD
public import Discovery

/// Sockets that receive datagrams, and their service, which is withdrawn when they close.
public final class DatagramListener: Sendable {
    private let sockets: DatagramSockets
    /// The port at every address.
    public let port: Port
    /// The service: its state, and its name after a collision.
    public let publication: Publication

    init(_ sockets: DatagramSockets, _ port: Port, _ publication: Publication) {
        (self.sockets, self.port, self.publication) = (sockets, port, publication)
    }

    deinit {
        sockets.close()
        // Unstructured, because no one is left to wait for it.
        Task { [publication] in await publication.withdraw() }
    }

    /// The addresses that have a socket now.
    public var addresses: Set<IPAddress> { sockets.addresses }

    /// Waits until the service is announced.
    /// - Returns: the published name, which a collision may have changed.
    /// - Throws: as `Publication.established()`.
    public func established() async throws(DiscoveryError) -> ServiceName { try await publication.established() }

    /// Says goodbye and closes all sockets; returns when the service is withdrawn.
    public func close() async {
        // Withdraw first, so that no one finds a closed port.
        await publication.withdraw()
        sockets.close()
    }
}
