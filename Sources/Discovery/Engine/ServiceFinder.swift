public import DNSSD

/// What finders and publishers have in common.
///
/// An engine outlives its backend: when that goes away the engine reports `down`, recovers by itself, and carries on with every
/// operation that is still open. Every call returns at once; nothing here waits for the backend.
public protocol EngineRole: Sendable {
    /// Follows the backend without asking it for anything: its state now, and each change.
    /// - Parameter reporting: called one state after another, from any thread, never from within this call; must return quickly.
    func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation

    /// What keeps answers from being complete now, each a sentence for people. What an operation reported as `degraded` is among them as
    /// long as it holds.
    var troubles: [String] { get }

    /// Ends all operations and frees what the engine holds; returns when that is done, or after 2 s at most.
    /// - Returns: whether the backend has taken note in time, which for publications means that goodbyes are sent.
    @discardableResult func shutdown() async -> Bool
}

extension EngineRole {
    /// None by default.
    public var troubles: [String] { [] }
}

/// Finds services: avahi-daemon, the daemon's socket, or a simulated network.
///
/// A finder reports raw facts and keeps no history: what a subscriber should see is decided above it, in `Catalog`. Reports of one
/// operation come one batch after another, from any thread, never from within the call that started the operation, and must
/// return quickly. The first fact of an operation is the state of the backend.
public protocol ServiceFinder: EngineRole {
    /// Whether questions about a domain are this finder's.
    func finds(in domain: Domain) -> Bool

    /// The times and bounds that fit how this finder learns of a domain's services.
    func limits(in domain: Domain) -> DiscoveryLimits

    /// Starts a query for services.
    func browse(_ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void) -> any EngineOperation

    /// Starts a query for the service types that are present in a domain (RFC 6763 §9).
    func browseTypes(_ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void) -> any EngineOperation

    /// A service that was reported could not be reached at any address: its records are verified, if the finder can (RFC 6762 §10.4).
    func couldNotReach(_ instance: ServiceInstance)

    /// Why a service that was found has no address, where the finder knows it.
    func obstacle(to instance: ServiceInstance) -> DiscoveryError?

    /// Starts a query for the domains that are recommended for browsing or registering (RFC 6763 §11).
    func browseDomains(_ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void)
        -> any EngineOperation
}

extension ServiceFinder {
    /// The defaults, in every domain.
    public func limits(in domain: Domain) -> DiscoveryLimits { DiscoveryLimits() }

    /// Does nothing: the backend has rules of its own.
    public func couldNotReach(_ instance: ServiceInstance) {}

    /// Nothing is known.
    public func obstacle(to instance: ServiceInstance) -> DiscoveryError? { nil }
}

/// An engine that finds and publishes.
public typealias DiscoveryEngine = ServiceFinder & ServicePublisher

/// One query or publication that an engine carries out.
public protocol EngineOperation: AnyObject, Sendable {
    /// Ends the operation; returns at once and may be called more than once. After it, no report comes from an operation that
    /// had not begun reporting already.
    func cancel()

    /// Ends the operation and waits until the backend knows, which for a publication means that goodbyes are sent.
    /// Returns after `limit` at the latest.
    /// - Returns: whether the backend knew in time.
    @discardableResult func cancel(waitingAtMost limit: Duration) async -> Bool
}
