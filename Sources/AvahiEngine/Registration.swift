import DNSSD
import Discovery

/// The desired state of one published service, and the way there. A value: it does nothing itself.
struct Registration {
    enum Action: Equatable {
        /// Put the service into the group under this name, and commit it.
        case register(ServiceName)
        /// Take everything out of the group, which stays.
        case reset
        /// Try again after this time.
        case retry(after: Duration)
        /// Tell whoever asked.
        case report(PublicationFact)
        /// It is over; free the group.
        case end
    }

    /// An attacker on the link can answer every probe; a hundred names are enough (RFC 6762 §9 leaves the number open).
    static let maximumRenames = 100

    /// Probing takes a second; Avahi makes it 20 s after 15 tries (avahi-core/entry.c). Longer than this, and something was lost.
    static let stuckAfter = Duration.seconds(30)

    let policy: ConflictPolicy
    private(set) var name: ServiceName
    private var renames = 0
    private var canPublish = false
    private var isOver = false
    private var told: PublicationFact?
    private var retryDelay = Duration.seconds(1)

    init(name: ServiceName, policy: ConflictPolicy) {
        self.name = name
        self.policy = policy
    }

    /// Avahi's client is running, or is not: the host's own name comes first, as the SRV record points to it.
    mutating func publishing(_ isPossible: Bool) -> [Action] {
        guard !isOver, canPublish != isPossible || (!isPossible && told == nil) else { return [] }
        canPublish = isPossible
        guard isPossible else { return [.reset] + report(.waiting("the host's name is being registered")) }
        return attempt()
    }

    /// The backend is gone, and the group with it.
    mutating func disconnected(_ reason: String) -> [Action] {
        canPublish = false
        return isOver ? [] : report(.waiting(reason))
    }

    /// The group told a new state.
    mutating func changed(to state: EntryGroup.State) -> [Action] {
        guard !isOver, canPublish else { return [] }
        switch state {
        case .uncommitted: return []
        case .registering:
            let news = report(.registering)
            return news.isEmpty ? [] : news + [.retry(after: Self.stuckAfter)]
        case .established:
            retryDelay = .seconds(1)
            return report(.established)
        case .collision: return collided()
        case .failed(let error): return wait(error.message)
        }
    }

    /// The service could not be put into the group.
    mutating func failed(_ error: DiscoveryError) -> [Action] {
        guard !isOver else { return [] }
        switch error.code {
        case .nameTaken: return collided()
        // The connection's own end is on its way; or avahi-daemon hung for longer than D-Bus waits, and may go on.
        case .backendUnavailable: return wait(error.message)
        // Interfaces come and go.
        case .invalidInterface: return wait(error.message)
        default: return over(.failed(error))
        }
    }

    /// The time to try again has come; what is established meanwhile needs no other try.
    mutating func retryIsDue() -> [Action] {
        guard !isOver, canPublish, told?.state != .established else { return [] }
        return [.reset] + attempt()
    }

    /// It is to be put into the group.
    var isRegistering: Bool { !isOver && canPublish && told?.state == .registering }

    /// It is in the group, or on its way: what changes from here on is an addition.
    var isRegistered: Bool { !isOver && canPublish && (told?.state == .established || told?.state == .registering) }

    /// Interfaces have come or gone while it waits: perhaps for one of them.
    mutating func interfacesChanged() -> [Action] {
        guard case .waiting = told?.state else { return [] }
        return retryIsDue()
    }

    /// The deadline comes first: registering may fail at once, and then sets its own.
    private mutating func attempt() -> [Action] {
        report(.registering) + [.retry(after: Self.stuckAfter), .register(name)]
    }

    private mutating func wait(_ reason: String) -> [Action] {
        let delay = retryDelay
        retryDelay = min(retryDelay * 2, .seconds(60))
        return [.reset] + report(.waiting(reason)) + [.retry(after: delay)]
    }

    private mutating func collided() -> [Action] {
        guard policy == .rename else {
            return over(.conflicted(DiscoveryError(.nameTaken, "the name \(name) is taken")))
        }
        renames += 1
        guard renames <= Self.maximumRenames else {
            return over(
                .conflicted(DiscoveryError(.nameTaken, "\(Self.maximumRenames) names up to \(name) are taken")))
        }
        name = name.nextAfterCollision()
        return [.reset] + attempt()
    }

    private mutating func over(_ state: PublicationFact.State) -> [Action] {
        isOver = true
        return report(state) + [.end]
    }

    private mutating func report(_ state: PublicationFact.State) -> [Action] {
        let fact = PublicationFact(name: name, state: state)
        guard fact != told else { return [] }
        told = fact
        return [.report(fact)]
    }
}
