public import DNSSD

/// Publishes services: with avahi-daemon, by multicast DNS or DNS updates, over the daemon's socket, or in a simulated
/// network.
public protocol ServicePublisher: EngineRole {
    /// Returns whether this publisher serves a domain. Services of other domains are reported as `.failed`.
    func publishes(in domain: Domain) -> Bool

    /// Publishes a service until the operation is cancelled. The service survives every fault of the backend and, once
    /// it has been established, every refusal.
    /// - Parameters:
    ///   - service: the service.
    ///   - onConflict: what to do if its name is taken.
    ///   - isPersistent: no refusal ends the operation, even if the service was never established or its name is taken
    ///     under `.fail`: it is reported as `.refused` and tried again.
    ///   - reporting: called with one fact after another, from any thread, but never from within this call. Must return
    ///     quickly.
    func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation
}

extension ServicePublisher {
    /// Publishes a service until the operation is cancelled or, before it has been established, refused.
    public func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        publish(service, onConflict: onConflict, isPersistent: false, reporting: reporting)
    }
}

/// One publication that an engine carries out.
public protocol PublicationOperation: EngineOperation {
    /// Announces another TXT record without withdrawing the service, and keeps it for registering with the backend
    /// again. Returns at once.
    /// - Returns: false if the engine cannot, so that the service must be published again.
    func update(txt: TXTRecord) -> Bool

    /// Announces another port and TXT record, as `update(txt:)` does.
    func update(port: Port, txt: TXTRecord) -> Bool
}

extension PublicationOperation {
    /// Returns false.
    public func update(txt: TXTRecord) -> Bool { false }

    /// Returns false.
    public func update(port: Port, txt: TXTRecord) -> Bool { false }
}

/// What to do if the wanted name belongs to another service (RFC 6762 §9).
public enum ConflictPolicy: String, Hashable, Sendable {
    /// Take the next free name: `tony #2`.
    case rename
    /// Give up.
    case fail
}

/// What an engine reports about a publication; never the same fact twice in a row.
public struct PublicationFact: Hashable, Sendable {
    /// The state of a publication; never `.withdrawn`.
    public typealias State = PublicationStatus.State

    /// The name that is being tried or is established.
    public var name: ServiceName
    /// The state under that name.
    public var state: State

    /// Creates a fact.
    public init(name: ServiceName, state: State) {
        self.name = name
        self.state = state
    }
}
