public import DNSSD
public import Discovery
public import NIOCore

/// A listening socket and its service, published at the actual port and withdrawn when the socket closes.
public final class PublishedListener: Sendable {
    /// The listening channel; closing it also withdraws the service.
    public let channel: any Channel
    /// The port it listens on.
    public let port: Port
    /// The service: its state, and its name after a collision.
    public let publication: Publication

    init(channel: any Channel, port: Port, publication: Publication) {
        self.channel = channel
        self.port = port
        self.publication = publication
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
