public import DNSSD

/// What carries out queries: avahi-daemon, the daemon's socket, or a simulated network.
///
/// An engine reports raw facts and keeps no history: what a subscriber should see is decided above it, in `Catalog`.
/// Every call returns at once; nothing here waits for the backend. Reports of one operation come one after another, from any
/// thread, never from within the call that started the operation, and must return quickly. An engine outlives its backend:
/// when that goes away the engine says so, recovers by itself, and carries on with every operation that is still open.
public protocol DiscoveryEngine: Sendable {
    /// Starts a query for services.
    func browse(_ query: ServiceQuery, reporting: @escaping @Sendable (BrowseFact) -> Void) -> any EngineOperation

    /// Starts a query for the service types that are present in a domain (RFC 6763 §9).
    func browseTypes(_ query: TypeQuery, reporting: @escaping @Sendable (TypeFact) -> Void) -> any EngineOperation

    /// Starts a query for the domains that are recommended for browsing or registering (RFC 6763 §11).
    func browseDomains(_ query: DomainQuery, reporting: @escaping @Sendable (DomainFact) -> Void) -> any EngineOperation

    /// Publishes a service until the operation is cancelled. The service stays wanted through every fault of the backend, and once it was
    /// established through every refusal.
    /// - Parameter isPersistent: no refusal ends it, not of what was never established either, nor a name that is taken with `.fail`: it
    ///   is reported as `.refused` and tried again.
    func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any EngineOperation

    /// What keeps answers from being complete now, each a sentence for people. What an operation reported as `degraded` is among them as
    /// long as it holds.
    var troubles: [String] { get }

    /// Ends all operations and frees what the engine holds; returns when that is done, or after 2 s at most.
    func shutdown() async
}

extension DiscoveryEngine {
    /// An engine that does not say otherwise has none.
    public var troubles: [String] { [] }

    /// Publishes a service until the operation is cancelled; a refusal ends what was never established.
    public func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any EngineOperation {
        publish(service, onConflict: onConflict, isPersistent: false, reporting: reporting)
    }
}

/// One query or publication that an engine carries out.
public protocol EngineOperation: AnyObject, Sendable {
    /// Ends the operation; returns at once and may be called more than once. After it, no report comes from an operation that
    /// had not begun reporting already.
    func cancel()

    /// Ends the operation and waits until the backend has been told, which for a publication means that goodbyes are sent.
    /// Returns after `limit` at the latest.
    /// - Returns: whether the backend was told in time.
    @discardableResult func cancel(waitingAtMost limit: Duration) async -> Bool

    /// Announces another TXT record for a publication, without withdrawing it; it counts from here on, also when the service is
    /// put to the backend again. Returns at once.
    /// - Returns: false when the engine cannot, or the operation is not a publication: it must be published anew.
    func update(txt: TXTRecord) -> Bool
}

extension EngineOperation {
    /// An engine that does not say otherwise cannot.
    public func update(txt: TXTRecord) -> Bool { false }
}

/// A question for services: all of a type, or one by name.
public struct ServiceQuery: Hashable, Sendable {
    /// What is asked for.
    public enum Target: Hashable, Sendable {
        /// Every instance of a type, perhaps of one subtype.
        case type(ServiceType, Domain)
        /// One instance by name, without browsing for its type.
        case instance(ServiceInstance)
    }

    /// Whether services are resolved, and for how long.
    public enum Resolution: Hashable, Sendable {
        /// Names only.
        case none
        /// Once; later changes are not looked for.
        case once
        /// As long as the query lives: changes of port, TXT and addresses are reported.
        case watch
    }

    /// What is asked for.
    public var target: Target
    /// Where to ask.
    public var interfaces: InterfaceFilter
    /// Ask over, and report addresses of, IPv4 or IPv6 only.
    public var family: IPAddress.Family?
    /// Whether to resolve.
    public var resolution: Resolution

    /// Creates a query.
    public init(
        _ target: Target, interfaces: InterfaceFilter = .all, family: IPAddress.Family? = nil,
        resolution: Resolution = .watch
    ) {
        self.target = target
        self.interfaces = interfaces
        self.family = family
        self.resolution = resolution
    }
}

/// A question for service types.
public struct TypeQuery: Hashable, Sendable {
    /// Where the services are.
    public var domain: Domain
    /// Where to ask.
    public var interfaces: InterfaceFilter
    /// Ask over IPv4 or IPv6 only.
    public var family: IPAddress.Family?

    /// Creates a query.
    public init(domain: Domain = .local, interfaces: InterfaceFilter = .all, family: IPAddress.Family? = nil) {
        self.domain = domain
        self.interfaces = interfaces
        self.family = family
    }
}

/// A question for domains.
public struct DomainQuery: Hashable, Sendable {
    /// What the domain is to be used for.
    public enum Purpose: Hashable, Sendable, CaseIterable {
        /// Looking for services (`b._dns-sd._udp`).
        case browsing
        /// Publishing them (`r._dns-sd._udp`).
        case registration
    }

    /// What the domain is to be used for.
    public var purpose: Purpose
    /// Where to ask.
    public var interfaces: InterfaceFilter

    /// Creates a query.
    public init(_ purpose: Purpose, interfaces: InterfaceFilter = .all) {
        self.purpose = purpose
        self.interfaces = interfaces
    }
}

/// What to do when the wanted name belongs to another (RFC 6762 §9).
public enum ConflictPolicy: String, Hashable, Sendable {
    /// Take the next free name: `tony #2`.
    case rename
    /// Give up.
    case fail
}
