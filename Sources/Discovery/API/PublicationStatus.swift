public import DNSSD

/// The status of a publication: the requested service, what became of it, and since when.
public struct PublicationStatus: Hashable, Sendable {
    /// How far publishing has come.
    public enum State: Hashable, Sendable {
        /// Waiting for the backend; with a reason for people.
        case waiting(String)
        /// Probing and announcing (RFC 6762 §8).
        case registering
        /// Announced under `name`.
        case established
        /// The backend refuses it, or every name is denied (`.nameTaken`). Retried at growing intervals, and whenever
        /// the backend comes back.
        case refused(DiscoveryError)
        /// The name is taken, and the policy was to fail, or too many names were tried. The publication has ended.
        case conflicted(DiscoveryError)
        /// The backend refused a service that it had never accepted. The publication has ended.
        case failed(DiscoveryError)
        /// Withdrawn by its owner. The publication has ended.
        case withdrawn

        /// Whether the state is final.
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
    /// How far publishing has come.
    public internal(set) var state: State
    /// When `state` or `name` last changed, by the network's `TimeSource`.
    public internal(set) var since: Duration
    /// How often it was renamed.
    public internal(set) var renames: Int

    package init(wanted: ServiceName, since: Duration) {
        self.wanted = wanted
        self.since = since
        name = wanted
        state = .registering
        renames = 0
    }

    /// - Returns: whether anything changed; never after a final state.
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

    /// - Returns: whether anything changed.
    package mutating func withdrawn(now: Duration) -> Bool { became(.withdrawn, name: name, now: now) }

    private mutating func became(_ state: State, name: ServiceName, now: Duration) -> Bool {
        guard !self.state.isFinal, (state, name) != (self.state, self.name) else { return false }
        if name != self.name { renames += 1 }
        (self.state, self.name, since) = (state, name, now)
        return true
    }
}
