public import DNSSD

/// Publishes services: avahi-daemon, the daemon's socket, or a simulated network.
public protocol ServicePublisher: EngineRole {
    /// Whether services of a domain are this publisher's; what it is asked to publish elsewhere it reports as `failed`.
    func publishes(in domain: Domain) -> Bool

    /// Publishes a service until the operation is cancelled. The service stays wanted through every fault of the backend, and once it was
    /// established through every refusal.
    /// - Parameters:
    ///   - isPersistent: no refusal ends it, not of what was never established either, nor a name that is taken with `.fail`: it
    ///     is reported as `.refused` and tried again.
    ///   - reporting: called one fact after another, from any thread, never from within this call; must return quickly.
    func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation
}

extension ServicePublisher {
    /// Publishes a service until the operation is cancelled; a refusal ends what was never established.
    public func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        publish(service, onConflict: onConflict, isPersistent: false, reporting: reporting)
    }
}

/// One publication that an engine carries out.
public protocol PublicationOperation: EngineOperation {
    /// Announces another TXT record, without withdrawing the service; it counts from here on, also when the service is put to the
    /// backend again. Returns at once.
    /// - Returns: false when the engine cannot: the service must be published again.
    func update(txt: TXTRecord) -> Bool
}

extension PublicationOperation {
    /// False by default.
    public func update(txt: TXTRecord) -> Bool { false }
}

/// What to do when the wanted name belongs to another (RFC 6762 §9).
public enum ConflictPolicy: String, Hashable, Sendable {
    /// Take the next free name: `tony #2`.
    case rename
    /// Give up.
    case fail
}

/// What an engine reports about a publication: a new state each time, never the same twice in a row.
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
