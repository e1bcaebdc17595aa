public import DNSSD
public import Discovery

/// The status of publishing in one domain, for people and metrics.
public struct ZoneStatus: Hashable, Sendable {
    /// The state of publishing.
    public enum State: Hashable, Sendable {
        /// The server has not answered yet.
        case starting
        /// The server has accepted the lease.
        case held
        /// The server does not answer; the reason is for people.
        case waiting(String)
        /// The server refuses.
        case refused(DiscoveryError)
    }

    /// The domain in which services are published.
    public let domain: Domain
    /// The server that takes updates, as address and port; nil while it is not known.
    public let server: String?
    /// The name of the key that signs updates; nil without one.
    public let key: String?
    /// The state of publishing.
    public let state: State
    /// How long the records outlive this process.
    public let lease: Duration
    /// The time until the lease ends that the server has accepted; nil without one.
    public let leaseLeft: Duration?
    /// The services that are published there.
    public let registrations: [Registration]
    /// The number of updates that were sent.
    public let updates: Int
    /// The number of requests that the server refused or did not answer.
    public let failures: Int
    /// The number of publishers whose records were taken back because they were gone.
    public let reaped: Int

    /// One service that is published.
    public struct Registration: Hashable, Sendable {
        /// The wanted identity.
        public let wanted: ServiceInstance
        /// The newest fact about it.
        public let fact: PublicationFact
    }

    package init(
        domain: Domain, server: String?, key: String?, state: State, lease: Duration, leaseLeft: Duration?,
        registrations: [Registration], updates: Int = 0, failures: Int = 0, reaped: Int = 0
    ) {
        self.domain = domain
        self.server = server
        self.key = key
        self.state = state
        self.lease = lease
        self.leaseLeft = leaseLeft
        self.registrations = registrations
        self.updates = updates
        self.failures = failures
        self.reaped = reaped
    }
}
