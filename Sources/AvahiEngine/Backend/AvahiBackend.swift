public import DNSSD

/// Whose avahi-daemon an `AvahiEngine` uses.
public enum AvahiBackend: Hashable, Sendable {
    /// The machine's own, over the system bus.
    case system
    /// One that the engine starts and supervises, with a D-Bus of its own; it ends when the engine or the process ends,
    /// and for good when an avahi-daemon appears on the system bus.
    case `private`(PrivateBackendOptions)
    /// The machine's own if it answers within 2 s, or at once if there is no system bus, else a private one, until the machine's
    /// own appears.
    case automatic(PrivateBackendOptions)
}

extension AvahiBackend {
    /// Whether the programs of a private backend are installed.
    package static var canBePrivate: Bool { PrivateBackendPrograms.arePresent }
}

/// How a private avahi-daemon is run.
public struct PrivateBackendOptions: Hashable, Sendable {
    /// The interfaces it uses, never `lo`. Patterns that take are resolved when it starts: an interface that comes
    /// later is not used.
    public var interfaces: InterfaceFilter
    /// The daemons' messages go to this process's stderr, else nowhere.
    public var passesOutput: Bool

    /// Creates options.
    public init(interfaces: InterfaceFilter = .all, passesOutput: Bool = false) {
        self.interfaces = interfaces
        self.passesOutput = passesOutput
    }
}
