public import DNSSD
public import Discovery
public import NIOCore

/// A socket that listens, and the service that says so: published at the port it really got, withdrawn when it closes.
public final class PublishedListener: Sendable {
    /// The listening channel; closing it withdraws the service, too.
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
            // Unstructured, because nobody waits for a channel that something else closed.
            Task { await publication.withdraw() }
        }
    }

    deinit { channel.close(promise: nil) }

    /// Waits until the service is announced.
    /// - Returns: the name under which it is, which a collision may have changed.
    /// - Throws: as `Publication.established()`.
    public func established() async throws(DiscoveryError) -> ServiceName { try await publication.established() }

    /// Accepts no more, and says goodbye; returns when both are done. Connections live on.
    public func close() async {
        // The name first, so that nobody finds a port that is closed.
        await publication.withdraw()
        try? await channel.close()
    }
}
