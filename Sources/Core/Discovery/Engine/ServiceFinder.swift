public import DNSSD

/// What finders and publishers have in common.
///
/// An engine outlives its backend: if the backend goes away, the engine reports `down`, recovers by itself, and carries
/// on with every operation that is still open. No call waits for the backend unless it is `async`.
public protocol EngineRole: Sendable {
    /// Follows the backend without opening a query: reports its current state, then each change.
    /// - Parameter reporting: called with one state after another, from any thread, but never from within this call.
    ///   Must return quickly.
    /// - Returns: the operation that ends the reports when cancelled.
    func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation

    /// The current reasons why answers may be incomplete, each a sentence for people. They include whatever an
    /// operation reported as `degraded`, as long as it holds.
    var troubles: [String] { get }

    /// Ends all operations and frees the engine's resources; returns when that is done, after 2 s at the latest.
    /// - Returns: whether the backend took note in time, which for publications means that goodbyes were sent.
    @discardableResult func shutdown() async -> Bool
}

extension EngineRole {
    /// None by default.
    public var troubles: [String] { [] }
}

/// Finds services: with avahi-daemon, by multicast or unicast DNS, over the daemon's socket, or in a simulated network.
///
/// A finder reports raw facts and keeps no history: `Catalog` decides what a subscriber sees. An operation reports one
/// batch after another, from any thread, but never from within the call that started it; `reporting` must return
/// quickly. The first fact of an operation is the state of the backend.
public protocol ServiceFinder: EngineRole {
    /// Returns whether this finder answers questions about a domain.
    func finds(in domain: Domain) -> Bool

    /// Returns the times and bounds that suit the way this finder learns of a domain's services.
    func limits(in domain: Domain) -> DiscoveryLimits

    /// Starts a query for services.
    func browse(_ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void) -> any EngineOperation

    /// Starts a query for the service types that are present in a domain (RFC 6763 §9).
    func browseTypes(_ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void) -> any EngineOperation

    /// A service that was reported could not be reached at any address. The finder verifies its records if it can
    /// (RFC 6762 §10.4).
    func couldNotReach(_ instance: ServiceInstance)

    /// Starts a query for the domains that are recommended for browsing or registering (RFC 6763 §11).
    func browseDomains(_ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void)
        -> any EngineOperation
}

extension ServiceFinder {
    /// Returns the default limits for every domain.
    public func limits(in domain: Domain) -> DiscoveryLimits { DiscoveryLimits() }

    /// Does nothing.
    public func couldNotReach(_ instance: ServiceInstance) {}
}

/// An engine that finds and publishes.
public typealias DiscoveryEngine = ServiceFinder & ServicePublisher

/// One query or publication that an engine carries out.
public protocol EngineOperation: AnyObject, Sendable {
    /// Ends the operation. Returns at once and may be called more than once. No report begins after it returns, though
    /// one that has begun may still be running.
    func cancel()

    /// Ends the operation and waits until the backend knows, which for a publication means that goodbyes were sent.
    /// Returns after `limit` at the latest.
    /// - Returns: whether the backend knew in time.
    @discardableResult func cancel(waitingAtMost limit: Duration) async -> Bool
}
