package import DNSSD
package import Discovery

/// The desired state of one published service, and the steps to reach it, whoever publishes. A value.
package struct Registration {
    /// How far the records of a service have come with whoever publishes them.
    package enum Progress: Equatable {
        case uncommitted
        case registering
        case established
        case collision
        case failed(DiscoveryError)
    }

    package enum Action: Equatable {
        /// Put the service on the network under this name.
        case register(ServiceName)
        /// Take it away, but keep what counts its collisions.
        case reset
        /// Try again after this time.
        case retry(after: Duration)
        /// Report to the caller.
        case report(PublicationFact)
        /// The publication is over.
        case end
    }

    private enum State: Equatable {
        /// There is no backend, or the host's own name is being registered: that comes first, because the SRV record points to it.
        case impossible
        /// Nothing is in the group until the next try.
        case waiting
        /// In the group, or about to be; probing since the group said so.
        case registering(since: Duration?)
        /// Avahi says that it is established, before probing can be over.
        case early
        case established
        case over
    }

    /// What a refusal ends.
    private enum Tenacity {
        /// A service that was never established.
        case tentative
        /// Not a service that was: it is tried again. A name that it may not leave ends it.
        case established
        /// Nothing.
        case persistent
    }

    /// Gives up after this many names, because an attacker on the link can answer every probe (RFC 6762 §9 leaves the number open).
    package static let maximumRenames = 100

    /// After this long, repeated denials are reported. Avahi takes a second or two per name; from the 15th on, 20 s.
    package static let contestedAfter = Duration.seconds(6)

    /// Three probes, 250 ms apart (RFC 6762 §8.1). avahi-daemon 0.9 says ESTABLISHED just before COLLISION of a name that is denied within this
    /// time.
    package static let probing = Duration.milliseconds(750)

    /// Probing takes a second, or 20 s after 15 tries (avahi-core/entry.c). If it takes longer than this, something was lost.
    static let stuckAfter = Duration.seconds(30)

    /// The first pause after it gave way: by then the other one has the name, and says so.
    static let wayGiven = Duration.seconds(5)

    /// The longest pause between tries.
    static let longestPause = Duration.seconds(60)

    package let policy: ConflictPolicy
    package private(set) var name: ServiceName
    private let wanted: ServiceName
    private let isAlias: Bool
    private let original: HostName?
    private let silence: String
    private var state = State.impossible
    private var tenacity: Tenacity
    private var renames = 0
    private var firstCollision: Duration?
    private var reported: PublicationFact?
    private var retryDelay = Duration.seconds(1)
    /// Consecutive calls that the backend did not carry out.
    private var failedCalls = 0

    /// - Parameter silence: what whoever publishes has done if a name is neither established nor taken for 30 s, for people.
    package init(
        of service: OfferedService, policy: ConflictPolicy, isPersistent: Bool = false,
        silence: String = "avahi-daemon has neither taken nor refused"
    ) {
        name = service.name
        isAlias = service.isAlias
        original = service.original
        self.silence = silence
        wanted = service.name
        self.policy = policy
        tenacity = isPersistent ? .persistent : .tentative
    }

    /// Call when Avahi's client starts or stops running.
    package mutating func publishing(_ isPossible: Bool) -> [Action] {
        switch (state, isPossible) {
        case (.over, _): return []
        case (.impossible, true): return attempt()
        case (.impossible, false) where reported != nil: return []
        case (_, true): return []
        case (_, false):
            state = .impossible
            return [.reset] + report(.waiting("the host's name is being registered"))
        }
    }

    /// The backend is gone, and the group with it. The next one may be configured differently.
    package mutating func disconnected(_ reason: String) -> [Action] {
        guard state != .over else { return [] }
        state = .impossible
        (failedCalls, retryDelay) = (0, .seconds(1))
        return report(.waiting(reason))
    }

    /// Call when the records have come to a new state.
    package mutating func changed(to progress: Progress, at now: Duration) -> [Action] {
        // What was taken away may still report.
        guard isRegistered else { return [] }
        switch progress {
        case .uncommitted: return []
        case .registering:
            let isNews = !isRegistering
            state = .registering(since: now)
            return isNews ? report(.registering) + [.retry(after: Self.stuckAfter)] : []
        case .established:
            guard case .registering(let since?) = state, now < since + Self.probing else { return established() }
            state = .early
            return [.retry(after: since + Self.probing - now)]
        case .collision: return collided(at: now)
        case .failed(let error): return refused(error)
        }
    }

    private mutating func established() -> [Action] {
        state = .established
        if tenacity == .tentative { tenacity = .established }
        (failedCalls, renames, firstCollision, retryDelay) = (0, 0, nil, .seconds(1))
        return report(.established)
    }

    /// Call when the service could not be added to the group.
    package mutating func failed(_ error: DiscoveryError, at now: Duration) -> [Action] {
        guard state != .over else { return [] }
        switch error.code {
        case .nameTaken: return collided(at: now)
        // The connection's end is about to be reported, or avahi-daemon hung longer than D-Bus waits for the first time.
        case .backendUnavailable:
            failedCalls += 1
            return failedCalls > 1 ? refused(error) : wait(error.message)
        // The interface may come back.
        case .invalidInterface: return wait(error.message)
        default: return tenacity == .tentative ? over(.failed(error)) : refused(error)
        }
    }

    /// Call when somebody else answers for the name of the host that the service is on: no other name of the service helps.
    package mutating func hostIsTaken(_ error: DiscoveryError) -> [Action] {
        guard state != .over else { return [] }
        return tenacity == .tentative ? over(.conflicted(error)) : refused(error)
    }

    /// Call when the host whose service it is offers it itself, or is about to.
    package mutating func gaveWay() -> [Action] {
        guard isRegistered else { return [] }
        retryDelay = max(retryDelay, Self.wayGiven)
        return refused(DiscoveryError(.nameTaken, "\(original?.text ?? "its host") offers it here itself"))
    }

    /// Call when other hosts deny this machine each name that it tries: the service waits for one, and its own name is not contested.
    package mutating func hostIsContested(_ error: DiscoveryError) -> [Action] {
        isRegistering ? report(.refused(error)) : []
    }

    /// The retry timer fired. A service established in the meantime needs no retry.
    package mutating func retryIsDue() -> [Action] {
        switch state {
        case .impossible, .established, .over: return []
        case .early: return established()
        case .waiting: return [.reset] + attempt()
        case .registering: break
        }
        let seconds = Self.stuckAfter.components.seconds
        let silence = DiscoveryError(.timedOut, "\(silence) \(name) for \(seconds) s")
        return (isRefused ? [] : report(.refused(silence))) + [.reset] + attempt()
    }

    /// The service should be added to the group.
    package var isRegistering: Bool { if case .registering = state { true } else { false } }

    /// The service is in the group or about to be: later changes are additions.
    package var isRegistered: Bool {
        switch state {
        case .registering, .early, .established: true
        case .impossible, .waiting, .over: false
        }
    }

    /// Call when interfaces come or go: a waiting service may need one of them.
    package mutating func interfacesChanged() -> [Action] {
        guard state == .waiting, case .waiting = reported?.state else { return [] }
        return retryIsDue()
    }

    /// Refused, and not established since: another attempt is not worth a report.
    private var isRefused: Bool { if case .refused = reported?.state { true } else { false } }

    /// Sets the deadline first: registering may fail at once and set its own.
    private mutating func attempt() -> [Action] {
        state = .registering(since: nil)
        return (isRefused ? [] : report(.registering)) + [.retry(after: Self.stuckAfter), .register(name)]
    }

    private mutating func wait(_ reason: String) -> [Action] { pause(.waiting(reason)) }

    private mutating func refused(_ error: DiscoveryError) -> [Action] { pause(.refused(error)) }

    private mutating func pause(_ reason: PublicationFact.State) -> [Action] {
        let delay = retryDelay
        retryDelay = min(retryDelay * 2, Self.longestPause)
        if state != .impossible { state = .waiting }
        return [.reset] + report(reason) + [.retry(after: delay)]
    }

    private mutating func collided(at now: Duration) -> [Action] {
        // The name is tried when that is possible again.
        guard state != .impossible else { return [] }
        guard policy == .rename else {
            let error = DiscoveryError(.nameTaken, "the name \(name) is taken")
            return tenacity == .persistent ? refused(error) : over(.conflicted(error))
        }
        let first = firstCollision ?? now
        firstCollision = first
        renames += 1
        let isTooMany = renames > Self.maximumRenames
        let denied = DiscoveryError(
            .nameTaken, "\(isTooMany ? Self.maximumRenames : renames) names up to \(name) are taken")
        if isTooMany {
            guard tenacity != .tentative else { return over(.conflicted(denied)) }
            // Start again later: the host that denies every name may be gone by then.
            (name, renames, retryDelay) = (wanted, 0, Self.longestPause)
            return refused(denied)
        }
        name = OfferedService.name(after: name, ofAlias: isAlias)
        let isContested = now >= first + Self.contestedAfter
        return [.reset] + (isContested ? report(.refused(denied)) : []) + attempt()
    }

    private mutating func over(_ reason: PublicationFact.State) -> [Action] {
        state = .over
        return report(reason) + [.end]
    }

    private mutating func report(_ state: PublicationFact.State) -> [Action] {
        let fact = PublicationFact(name: name, state: state)
        guard fact != reported else { return [] }
        reported = fact
        return [.report(fact)]
    }
}
