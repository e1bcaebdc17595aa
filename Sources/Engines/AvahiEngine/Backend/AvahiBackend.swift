public import DNSSD

/// Which avahi-daemon an `AvahiEngine` uses.
public enum AvahiBackend: Hashable, Sendable {
    /// The machine's own, through the system bus.
    case system
    /// One that the engine starts and supervises, with its own D-Bus. It ends with the engine or the process, and for good when an
    /// avahi-daemon appears on the system bus.
    case `private`(PrivateBackendOptions)
    /// The machine's own if it answers within 2 s; without a system bus at once, or after those 2 s, a private one, until the machine's own
    /// appears.
    case automatic(PrivateBackendOptions)
}

extension AvahiBackend {
    /// Whether the programs of a private backend are installed.
    package static var canBePrivate: Bool { PrivateBackendPrograms.arePresent }

    var isAutomatic: Bool { if case .automatic = self { true } else { false } }

    var startsToPublishOnly: Bool {
        switch self {
        case .system: false
        case .private(let options), .automatic(let options): options.startsToPublishOnly
        }
    }
}

/// How to run a private avahi-daemon.
public struct PrivateBackendOptions: Hashable, Sendable {
    /// The interfaces to use, never `lo`. If the filter includes by pattern, the patterns are resolved at start: interfaces that appear
    /// later are not used.
    public var interfaces: InterfaceFilter
    /// Pass the daemons' messages to this process's standard error; otherwise they are discarded.
    public var passesOutput: Bool
    /// It starts when something is published, not when something is asked: for programs that find services by other means. What is
    /// asked is put to one that runs, and with `.automatic` to the system's avahi-daemon.
    public var startsToPublishOnly: Bool

    /// Creates options.
    public init(interfaces: InterfaceFilter = .all, passesOutput: Bool = false, startsToPublishOnly: Bool = false) {
        self.interfaces = interfaces
        self.passesOutput = passesOutput
        self.startsToPublishOnly = startsToPublishOnly
    }
}
