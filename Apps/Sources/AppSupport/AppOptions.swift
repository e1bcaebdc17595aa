public import ArgumentParser
public import CommandFrame
public import NetworkServices

/// The options that all programs share.
public struct AppOptions: ParsableArguments, Sendable {
    /// Print one JSON object a line.
    @Flag(name: .long, help: "Print one JSON object a line.")
    public var json = false

    /// What part avahi-daemon has.
    @OptionGroup public var avahi: AvahiOptions

    /// Which interfaces to use.
    @OptionGroup public var interface: InterfaceOptions

    /// The options without any argument.
    public init() {}

    /// The interfaces to use.
    public var interfaces: InterfaceFilter { (try? interface.filter()) ?? .all }

    /// Opens a network according to the options.
    func openNetwork() throws(DiscoveryError) -> LocalNetwork {
        try LocalNetwork(backend: LocalNetwork.Backend(rawValue: avahi.backend) ?? .auto)
    }
}
