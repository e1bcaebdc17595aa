#if Lifecycle
public import Discovery
public import ServiceLifecycle

/// A network as a service of a `ServiceGroup`, to be listed first: it is shut down last.
extension LocalNetwork: ServiceLifecycle.Service {
    /// Waits for graceful shutdown or cancellation, then shuts the network down.
    public func run() async throws {
        try? await gracefulShutdown()
        await shutdown()
    }
}
#endif
