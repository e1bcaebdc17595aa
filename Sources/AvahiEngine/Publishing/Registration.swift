import DNSSD
import Discovery
import DiscoverySystem

/// The desired state of one published service, and the steps to reach it. A value.
struct Registration {
    enum Action: Equatable {
        /// Add the service to the group under this name, and commit it.
        case register(ServiceName)
        /// Empty the group, but keep it.
        case reset
        /// Try again after this time.
        case retry(after: Duration)
        /// Report to the caller.
        case report(PublicationFact)
        /// The publication is over; free the group.
        case end
    }

    private enum Phase {
        case idle, registering
        /// Avahi says that it is established, before probing can be over.
        case early
        case established
    }

    /// Gives up after this many names, because an attacker on the link can answer every probe (RFC 6762 §9 leaves the number open).
    static let maximumRenames = 100

    /// After this long, repeated denials are reported. Avahi takes a second or two per name; from the 15th on, 20 s.
    static let contestedAfter = Duration.seconds(6)

    /// Three probes, 250 ms apart (RFC 6762 §8.1). avahi-daemon 0.9 says ESTABLISHED just before COLLISION of a name that is denied within this
    /// time.
    static let probing = Duration.milliseconds(750)

    /// Probing takes a second, or 20 s after 15 tries (avahi-core/entry.c). If it takes longer than this, something was lost.
    static let stuckAfter = Duration.seconds(30)

    /// The longest pause between tries.
    static let longestPause = Duration.seconds(60)

    let policy: ConflictPolicy
    /// No refusal ends the publication.
    let isPersistent: Bool
    private(set) var name: ServiceName
    private let wanted: ServiceName
    private var phase = Phase.idle
    /// When the group said that it probes.
    private var probesSince: MonotonicTime?
    private var wasEstablished = false
    private var renames = 0
    private var firstCollision: MonotonicTime?
    private var canPublish = false
    private var isOver = false
    private var told: PublicationFact?
    private var retryDelay = Duration.seconds(1)
    /// Consecutive calls that the backend did not carry out.
    private var failedCalls = 0

    init(name: ServiceName, policy: ConflictPolicy, isPersistent: Bool = false) {
        self.name = name
        wanted = name
        self.policy = policy
        self.isPersistent = isPersistent
    }

    /// Call when Avahi's client starts or stops running. The host's own name comes first, because the SRV record points to it.
    mutating func publishing(_ isPossible: Bool) -> [Action] {
        guard !isOver, canPublish != isPossible || (!isPossible && told == nil) else { return [] }
        canPublish = isPossible
        guard isPossible else {
            phase = .idle
            return [.reset] + report(.waiting("the host's name is being registered"))
        }
        return attempt()
    }

    /// The backend is gone, and the group with it. The next one may be configured differently.
    mutating func disconnected(_ reason: String) -> [Action] {
        canPublish = false
        phase = .idle
        (failedCalls, retryDelay) = (0, .seconds(1))
        return isOver ? [] : report(.waiting(reason))
    }

    /// Call when the group reports a new state.
    mutating func changed(to state: EntryGroup.State, at now: MonotonicTime) -> [Action] {
        // A group that was reset may still report.
        guard !isOver, canPublish, phase != .idle else { return [] }
        switch state {
        case .uncommitted: return []
        case .registering:
            probesSince = now
            guard phase != .registering else { return [] }
            phase = .registering
            return report(.registering) + [.retry(after: Self.stuckAfter)]
        case .established:
            guard phase == .registering, let end = probesSince.map({ $0 + Self.probing }), now < end else {
                return established()
            }
            phase = .early
            return [.retry(after: .microseconds(end.microseconds - now.microseconds))]
        case .collision: return collided(at: now)
        case .failed(let error): return refused(error)
        }
    }

    private mutating func established() -> [Action] {
        phase = .established
        wasEstablished = true
        (failedCalls, renames, firstCollision, retryDelay) = (0, 0, nil, .seconds(1))
        return report(.established)
    }

    /// Call when the service could not be added to the group.
    mutating func failed(_ error: DiscoveryError, at now: MonotonicTime) -> [Action] {
        guard !isOver else { return [] }
        switch error.code {
        case .nameTaken: return collided(at: now)
        // The connection's end is about to be reported, or avahi-daemon hung longer than D-Bus waits for the first time.
        case .backendUnavailable:
            failedCalls += 1
            return failedCalls > 1 ? refused(error) : wait(error.message)
        // The interface may come back.
        case .invalidInterface: return wait(error.message)
        default: return wasEstablished || isPersistent ? refused(error) : over(.failed(error))
        }
    }

    /// Call when somebody else answers for the name of the host that the service is on: no other name of the service helps.
    mutating func hostIsTaken(_ error: DiscoveryError) -> [Action] {
        guard !isOver else { return [] }
        return isPersistent || wasEstablished ? refused(error) : over(.conflicted(error))
    }

    /// The retry timer fired. A service established in the meantime needs no retry.
    mutating func retryIsDue() -> [Action] {
        guard !isOver, canPublish else { return [] }
        switch phase {
        case .established: return []
        case .early: return established()
        case .idle: return [.reset] + attempt()
        case .registering: break
        }
        let seconds = Self.stuckAfter.components.seconds
        let silence = DiscoveryError(.timedOut, "avahi-daemon has neither taken nor refused \(name) for \(seconds) s")
        return (isRefused ? [] : report(.refused(silence))) + [.reset] + attempt()
    }

    /// The service should be added to the group.
    var isRegistering: Bool { !isOver && canPublish && phase == .registering }

    /// The service is in the group or about to be: later changes are additions.
    var isRegistered: Bool { !isOver && canPublish && phase != .idle }

    /// Call when interfaces come or go: a waiting service may need one of them.
    mutating func interfacesChanged() -> [Action] {
        guard phase == .idle, case .waiting = told?.state else { return [] }
        return retryIsDue()
    }

    /// Refused, and not established since: another attempt is not worth a report.
    private var isRefused: Bool { if case .refused = told?.state { true } else { false } }

    /// Sets the deadline first: registering may fail at once and set its own.
    private mutating func attempt() -> [Action] {
        (phase, probesSince) = (.registering, nil)
        return (isRefused ? [] : report(.registering)) + [.retry(after: Self.stuckAfter), .register(name)]
    }

    private mutating func wait(_ reason: String) -> [Action] { pause(.waiting(reason)) }

    private mutating func refused(_ error: DiscoveryError) -> [Action] { pause(.refused(error)) }

    private mutating func pause(_ state: PublicationFact.State) -> [Action] {
        let delay = retryDelay
        retryDelay = min(retryDelay * 2, Self.longestPause)
        phase = .idle
        return [.reset] + report(state) + [.retry(after: delay)]
    }

    private mutating func collided(at now: MonotonicTime) -> [Action] {
        guard policy == .rename else {
            let error = DiscoveryError(.nameTaken, "the name \(name) is taken")
            return isPersistent ? refused(error) : over(.conflicted(error))
        }
        let first = firstCollision ?? now
        firstCollision = first
        renames += 1
        let isTooMany = renames > Self.maximumRenames
        let denied = DiscoveryError(
            .nameTaken, "\(isTooMany ? Self.maximumRenames : renames) names up to \(name) are taken")
        if isTooMany {
            guard isPersistent || wasEstablished else { return over(.conflicted(denied)) }
            // Start again later: the host that denies every name may be gone by then.
            (name, renames, retryDelay) = (wanted, 0, Self.longestPause)
            return refused(denied)
        }
        name = name.nextAfterCollision()
        let isContested = now >= first + Self.contestedAfter
        return [.reset] + (isContested ? report(.refused(denied)) : []) + attempt()
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
