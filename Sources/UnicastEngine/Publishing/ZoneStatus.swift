public import DNSSD
public import Discovery

/// How publishing in one domain stands, for people and metrics.
public struct ZoneStatus: Hashable, Sendable {
    /// How far it is.
    public enum State: Hashable, Sendable {
        /// The server has not answered yet.
        case starting
        /// The server has taken the lease.
        case held
        /// The server does not answer; the reason is for people.
        case waiting(String)
        /// The server refuses.
        case refused(DiscoveryError)
    }

    /// The domain that services are published in.
    public let domain: Domain
    /// The server that takes updates, as address and port; nil while it is not known.
    public let server: String?
    /// The name of the key that signs updates; nil without one.
    public let key: String?
    /// How far it is.
    public let state: State
    /// How long the records outlive this process.
    public let lease: Duration
    /// How long from now the lease runs that the server has taken; nil without one.
    public let leaseLeft: Duration?
    /// What is published there.
    public let registrations: [Registration]
    /// How many updates have been sent.
    public let updates: Int
    /// How many of them the server refused, or left unanswered.
    public let failures: Int
    /// How many publishers that had gone were taken back from here.
    public let reaped: Int

    /// One service that is published.
    public struct Registration: Hashable, Sendable {
        /// The identity that was asked for.
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
