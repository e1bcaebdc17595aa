public import DNSSD

/// One service seen on one interface over one family: the same service is sighted several times.
public struct Sighting: Hashable, Sendable {
    /// Which service.
    public let instance: ServiceInstance
    /// Where.
    public let interface: NetworkInterface
    /// Over IPv4 or IPv6 packets, whatever addresses they carry.
    public let family: IPAddress.Family

    /// Creates a sighting.
    public init(instance: ServiceInstance, interface: NetworkInterface, family: IPAddress.Family) {
        self.instance = instance
        self.interface = interface
        self.family = family
    }
}

/// What is known of a service on one interface. It replaces what was known of it on that interface.
public struct Resolution: Hashable, Sendable {
    /// Which service.
    public let instance: ServiceInstance
    /// Where.
    public let interface: NetworkInterface
    /// SRV target.
    public var host: HostName
    /// SRV port; nil for 0.
    public var port: Port?
    /// TXT.
    public var txt: TXTRecord
    /// The host's addresses on this interface, link-local ones with their scope.
    public var addresses: [IPAddress]
    /// Both families answered, or had the time to.
    public var isComplete: Bool

    /// Creates a resolution.
    public init(
        instance: ServiceInstance, interface: NetworkInterface, host: HostName, port: Port?, txt: TXTRecord,
        addresses: [IPAddress], isComplete: Bool
    ) {
        self.instance = instance
        self.interface = interface
        self.host = host
        self.port = port
        self.txt = txt
        self.addresses = addresses
        self.isComplete = isComplete
    }
}

/// What an engine tells of a `ServiceQuery`.
public enum BrowseFact: Hashable, Sendable {
    /// A service was sighted. In a query for one instance it comes with the first resolution on each path.
    case appeared(Sighting)
    /// A sighting ended. It may come back at once.
    case disappeared(Sighting)
    /// A sighting ended because this machine's own interface went down, which says nothing of the service.
    case hidden(Sighting)
    /// A sighted service was resolved on an interface, or resolved anew with other values.
    case resolved(Resolution)
    /// A sighted service did not answer on any path of an interface; the engine goes on trying while the query watches.
    case resolutionFailed(ServiceInstance, NetworkInterface)
    /// The backend's first answer is complete: every sighting it knew has been reported (not: resolved). Comes once for each time
    /// the backend came up, after its sightings.
    case listed
    /// The backend came, went, or came back. After `.recovered` everything is reported anew, then `.listed`.
    case backend(BackendState)
    /// Something was left out.
    case degraded(String)
}

/// What an engine tells of a `TypeQuery`.
public enum TypeFact: Hashable, Sendable {
    /// A type was seen on an interface.
    case appeared(ServiceType, Domain, NetworkInterface)
    /// It is gone from that interface.
    case disappeared(ServiceType, Domain, NetworkInterface)
    /// The backend's first answer is complete.
    case listed
    /// The backend came, went, or came back.
    case backend(BackendState)
    /// Something was left out.
    case degraded(String)
}

/// What an engine tells of a `DomainQuery`.
public enum DomainFact: Hashable, Sendable {
    /// A domain is recommended on an interface.
    case appeared(Domain, NetworkInterface?)
    /// It no longer is.
    case disappeared(Domain, NetworkInterface?)
    /// The backend's first answer is complete.
    case listed
    /// The backend came, went, or came back.
    case backend(BackendState)
}

/// What an engine tells of a publication: a new state each time, never the same twice in a row.
public struct PublicationFact: Hashable, Sendable {
    /// Where the publication stands.
    public enum State: Hashable, Sendable {
        /// Waiting for the backend; the reason is for people.
        case waiting(String)
        /// Probing and announcing (RFC 6762 §8).
        case registering
        /// Announced under `name`.
        case established
        /// The backend refuses it, or every name is denied (`.nameTaken`); it is tried again, later and later, and whenever the
        /// backend comes back.
        case refused(DiscoveryError)
        /// The name is taken, and the policy was to give up, or too many names were tried. The operation has ended.
        case conflicted(DiscoveryError)
        /// The backend refused what it had never taken before. The operation has ended.
        case failed(DiscoveryError)
    }

    /// The name that is tried or established now.
    public var name: ServiceName
    /// Where it stands.
    public var state: State

    /// Creates a fact.
    public init(name: ServiceName, state: State) {
        self.name = name
        self.state = state
    }
}
