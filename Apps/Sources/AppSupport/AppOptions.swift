public import ArgumentParser
import AvahiEngine
public import CommandFrame
public import DNSSD
import Discovery

/// Options of every program here.
public struct AppOptions: ParsableArguments, Sendable {
    /// Whether output is one JSON object a line.
    @Flag(name: .long, help: "Print one JSON object a line.")
    public var json = false

    /// What answers for mDNS.
    @Option(name: .long, help: "What answers for mDNS.")
    public var backend = BackendChoice.auto

    /// Which interfaces to use.
    @OptionGroup public var interface: InterfaceOptions

    /// Options as they are without any argument.
    public init() {}

    /// The interfaces to use.
    public var interfaces: InterfaceFilter { (try? interface.filter()) ?? .all }

    /// A network as the options say.
    /// - Parameter failed: called when there will be no backend any more.
    func openNetwork(_ failed: @escaping @Sendable (DiscoveryError) -> Void) throws(DiscoveryError) -> LocalNetwork {
        let own = PrivateBackendOptions(interfaces: interfaces)
        let backend: AvahiBackend =
            switch backend {
            case .auto: .automatic(own)
            case .system: .system
            case .private: .private(own)
            }
        return LocalNetwork(engine: try AvahiEngine(backend: backend, backendEnded: failed))
    }
}
