public import DNSSD

/// The status of a publication: the requested service, what became of it, and since when.
public struct PublicationStatus: Hashable, Sendable {
    /// How far publishing has come, from the engine that reports it to the program. `PublicationState` has its name in JSON.
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
        /// Withdrawn by its owner. The publication has ended. No engine reports it.
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
        became(fact.state, name: fact.name, now: now)
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

/// How far a publication has come, by its name in JSON and at the daemon.
public enum PublicationState: String, Hashable, Sendable {
    /// The backend is away.
    case waiting
    /// Other hosts are asked whether they have the name (RFC 6762 §8.1).
    case registering
    /// It is published.
    case established
    /// Its check does not pass.
    case withheld
    /// Another host has the name.
    case conflicted
    /// It cannot be published.
    case failed
    /// It has ended.
    case withdrawn
    /// A state that this version does not know.
    case unknown
}

extension PublicationStatus.State {
    /// Its name; what is refused waits, unless it is the name that is taken.
    package var named: PublicationState {
        switch self {
        case .waiting: .waiting
        case .registering: .registering
        case .established: .established
        case .refused(let error): error.code == .nameTaken ? .conflicted : .waiting
        case .conflicted: .conflicted
        case .failed: .failed
        case .withdrawn: .withdrawn
        }
    }

    /// Why it is not published, with a name of the error for programs if it is one.
    package var why: (reason: String, code: DiscoveryError.Code?)? {
        switch self {
        case .waiting(let reason): (reason, nil)
        case .refused(let error), .conflicted(let error), .failed(let error): (error.message, error.code)
        case .registering, .established, .withdrawn: nil
        }
    }
}
