public import DNSSD

/// Where a publication stands: what was wanted, what it became, and since when.
public struct PublicationStatus: Hashable, Sendable {
    /// How far it is.
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
        /// The name is taken, and the policy was to give up, or too many names were tried. It has ended.
        case conflicted(DiscoveryError)
        /// The backend refused what it had never taken before. It has ended.
        case failed(DiscoveryError)
        /// Withdrawn by its owner. It has ended.
        case withdrawn

        /// No further state follows.
        public var isFinal: Bool {
            switch self {
            case .waiting, .registering, .established, .refused: false
            case .conflicted, .failed, .withdrawn: true
            }
        }
    }

    /// The name that was asked for.
    public let wanted: ServiceName
    /// The name that is tried or established.
    public internal(set) var name: ServiceName
    /// How far it is.
    public internal(set) var state: State
    /// When `state` or `name` changed, in the time of the network's `TimeSource`.
    public internal(set) var since: Duration
    /// How often it was given another name.
    public internal(set) var renames: Int

    package init(wanted: ServiceName, since: Duration) {
        self.wanted = wanted
        self.since = since
        name = wanted
        state = .registering
        renames = 0
    }

    /// - Returns: whether anything has changed; nothing does after a final state.
    package mutating func reported(_ fact: PublicationFact, now: Duration) -> Bool {
        let state: State =
            switch fact.state {
            case .waiting(let reason): .waiting(reason)
            case .registering: .registering
            case .established: .established
            case .refused(let error): .refused(error)
            case .conflicted(let error): .conflicted(error)
            case .failed(let error): .failed(error)
            }
        return became(state, name: fact.name, now: now)
    }

    /// - Returns: whether anything has changed.
    package mutating func withdrawn(now: Duration) -> Bool { became(.withdrawn, name: name, now: now) }

    private mutating func became(_ state: State, name: ServiceName, now: Duration) -> Bool {
        guard !self.state.isFinal, (state, name) != (self.state, self.name) else { return false }
        if name != self.name { renames += 1 }
        (self.state, self.name, since) = (state, name, now)
        return true
    }
}
