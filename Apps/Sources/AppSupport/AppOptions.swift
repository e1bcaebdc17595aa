public import ArgumentParser
public import CommandFrame
public import NetworkServices

/// The options that all programs share.
public struct AppOptions: ParsableArguments, Sendable {
    /// Print one JSON object a line.
    @Flag(name: .long, help: "Print one JSON object a line.")
    public var json = false

    /// What publishes.
    @Option(name: .long, help: "What publishes: the system's avahi-daemon, or the program itself.")
    public var backend = BackendChoice.auto

    /// Which interfaces to use.
    @OptionGroup public var interface: InterfaceOptions

    /// The options without any argument.
    public init() {}

    /// The interfaces to use.
    public var interfaces: InterfaceFilter { (try? interface.filter()) ?? .all }

    /// Opens a network according to the options.
    func openNetwork() throws(DiscoveryError) -> LocalNetwork {
        let backend: LocalNetwork.Backend =
            switch backend {
            case .auto: .auto
            case .system: .system
            case .wire: .wire
            }
        return try LocalNetwork(backend: backend)
    }
}
