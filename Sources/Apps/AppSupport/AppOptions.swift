public import ArgumentParser
import AvahiEngine
public import DNSSD
import Discovery

/// Options of every program here.
public struct AppOptions: ParsableArguments, Sendable {
    /// What answers for mDNS.
    public enum Backend: String, CaseIterable, ExpressibleByArgument, Sendable {
        /// The system's, if it answers, else one of our own.
        case auto
        /// The host's avahi-daemon.
        case system
        /// An avahi-daemon of our own.
        case `private`
    }

    /// Whether output is one JSON object a line.
    @Flag(name: .long, help: "Print one JSON object a line.")
    public var json = false

    /// What answers for mDNS.
    @Option(name: .long, help: "What answers for mDNS.")
    public var backend = Backend.auto

    /// Shell patterns of interfaces to use.
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Use interfaces that match a shell pattern, or with '!' those that do not: 'en*', '!docker*'. Repeatable.",
            valueName: "pattern"
        )
    )
    public var interface: [String] = []

    /// Options as they are without any argument.
    public init() {}

    /// Refuses patterns that can match no interface.
    public func validate() throws {
        do {
            _ = try InterfaceFilter(interface)
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// The interfaces to use.
    public var interfaces: InterfaceFilter { (try? InterfaceFilter(interface)) ?? .all }

    /// A network as the options say.
    func openNetwork() throws(DiscoveryError) -> LocalNetwork {
        let own = PrivateBackendOptions(interfaces: interfaces)
        let backend: AvahiBackend =
            switch backend {
            case .auto: .automatic(own)
            case .system: .system
            case .private: .private(own)
            }
        return LocalNetwork(engine: try AvahiEngine(backend: backend) { AppRunner.fail(AppError($0)) })
    }
}
