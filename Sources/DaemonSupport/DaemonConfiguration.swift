public import DNSSD
public import DiscoveryDaemon

/// What the daemon is to do: `discoverd.yaml`, and the services of `services.d/*.yaml` in order of name.
public struct DaemonConfiguration: Hashable, Sendable {
    /// What publishes.
    public enum Backend: String, Hashable, Sendable, CaseIterable {
        /// The system's, if it answers, else one of our own.
        case auto
        /// The host's avahi-daemon.
        case system
        /// An avahi-daemon of our own.
        case `private`
    }

    /// What finds services on the link.
    public enum Finder: String, Hashable, Sendable, CaseIterable {
        /// avahi-daemon.
        case auto
        /// The links themselves, by multicast DNS.
        case wire
        /// avahi-daemon, over D-Bus.
        case avahi
    }

    /// When a changed configuration counts.
    public enum Reload: String, Hashable, Sendable, CaseIterable {
        /// As soon as it is no longer being written.
        case auto
        /// When someone says so.
        case explicit
    }

    /// How much the log says.
    public enum LogLevel: String, Hashable, Sendable, CaseIterable {
        /// Everything, or less and less of it.
        case debug, info, notice, warning, error
    }

    /// What publishes unless the command line says it; nil: `auto`.
    public var backend: Backend?
    /// What finds services unless the command line says it; nil: `auto`.
    public var finder: Finder?
    /// When a changed configuration counts.
    public var reload = Reload.auto
    /// The types to keep warm.
    public var browse: [ServiceType] = []
    /// The services to publish; no two have the same name, type and domain.
    public var services: [ServiceDefinition] = []
    /// Domains that DNS servers serve.
    public var domains: [DomainDefinition] = []
    /// What of a link is brought into a zone.
    public var exports: [ExportRule] = []
    /// Who may publish, and how much.
    public var access = AccessRules()
    /// Where the read-only part of the API is offered over TCP; nil: nowhere.
    public var tcpListen: TCPListen?
    /// Bounds on clients of the control socket.
    public var limits = ControlLimits()
    /// How much the log says unless the command line says it; nil: `info`.
    public var logLevel: LogLevel?

    /// What is wrong with files of packages and programs, which are left out whole: they must not keep the administrator's from counting.
    public var leftOut: [ConfigurationError] = []

    /// What is valid, and has no effect now: lines, safe for a terminal.
    public var doubts: [String] = []

    /// The defaults: what holds without any file.
    public init() {}
}

/// A TCP listener of the daemon.
public struct TCPListen: Hashable, Sendable {
    /// The address to bind; a wildcard offers the API to the network.
    public var address: IPAddress
    /// The port.
    public var port: Port
    /// `Host` headers that are answered besides IP addresses and `localhost`: in lower case, without a port.
    public var hosts: [String]

    /// Creates a description.
    public init(address: IPAddress, port: Port, hosts: [String] = []) {
        self.address = address
        self.port = port
        self.hosts = hosts
    }
}

/// Bounds on clients of the control socket.
public struct ControlLimits: Hashable, Sendable {
    /// Connections at one time: 1 to 1024.
    public var clients = 64
    /// Connections at one time of one user, root excepted: 1 to 1024.
    public var clientsPerUser = 8
    /// The largest body of a request in bytes: 1024 to 1 MiB.
    public var requestBytes = 65_536
    /// What may wait for a watcher that does not read, in bytes: 4096 to 64 MiB.
    public var watchQueueBytes = 262_144

    /// The defaults.
    public init() {}
}
