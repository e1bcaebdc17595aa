public import ArgumentParser
public import CommandFrame
public import NetworkServices

/// The options that all programs share.
public struct AppOptions: ParsableArguments, Sendable {
    /// Print one JSON object a line.
    @Flag(name: .long, help: "Print one JSON object a line.")
    public var json = false

    /// What publishes.
    @Option(name: .long, help: "What publishes: the system's avahi-daemon, or a private one.")
    public var backend = BackendChoice.auto

    /// Which interfaces to use.
    @OptionGroup public var interface: InterfaceOptions

    /// The options without any argument.
    public init() {}

    /// The interfaces to use.
    public var interfaces: InterfaceFilter { (try? interface.filter()) ?? .all }

    /// Opens a network according to the options.
    /// - Parameter failed: called when the backend is gone for good.
    func openNetwork(_ failed: @escaping @Sendable (DiscoveryError) -> Void) throws(DiscoveryError) -> LocalNetwork {
        let own = PrivateBackendOptions(interfaces: interfaces)
        let backend: AvahiBackend =
            switch backend {
            case .auto: .automatic(own)
            case .system: .system
            case .private: .private(own)
            case .wire: throw DiscoveryError(.misconfigured, "programs of the library do not publish on the wire yet")
            }
        return try LocalNetwork(backend: backend, backendEnded: failed)
    }
}
