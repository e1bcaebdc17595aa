import DNSSD

/// Decides when to connect to avahi-daemon, when to give up on a connection, and what to report to operations. A value.
struct ClientLifecycle {
    /// What to do.
    enum Action: Equatable {
        /// Make a new connection now.
        case connect
        /// Close the connection; every object made with it is gone.
        case disconnect
        /// Connect again after this time.
        case retry(after: Duration)
        /// The backend answers: start the wanted operations.
        case up
        /// Publishing works now, or does not (the host's own name is being registered).
        case publishing(Bool)
        /// The backend does not answer; the reason is for people.
        case down(String)
    }

    private enum Phase: Equatable {
        case idle
        case connected
        /// The bus answers, and will signal avahi-daemon's arrival.
        case waitingForDaemon
        case up
        case waitingToRetry
        /// The backend will not come back.
        case ended
    }

    /// Consecutive attempts wait 0.25, 0.5, 1, 2, 3, 3 … s: soon enough to return within 5 s of the backend, and rare enough to cost
    /// nothing. If the bus answers but avahi-daemon is gone, the bus signals its return and no attempts are made.
    private static let firstDelay = Duration.milliseconds(250)
    private static let lastDelay = Duration.seconds(3)

    /// An avahi-daemon that hung while a connection was made counts as absent for that connection, and the bus sends no signal when it
    /// resumes. So a new connection is made from time to time.
    private static let daemonPatience = Duration.seconds(10)

    private var phase = Phase.idle
    private var delay = firstDelay

    /// An operation needs the backend.
    mutating func wanted() -> [Action] {
        guard phase == .idle else { return [] }
        return connecting()
    }

    /// What is wanted now may be had where what was wanted before could not: tries at once.
    mutating func wantedMore() -> [Action] {
        delay = Self.firstDelay
        return retryIsDue()
    }

    /// A connection was made, or its state changed.
    mutating func changed(to state: AvahiConnection.State) -> [Action] {
        switch state {
        case .connecting:
            let wasUp = phase == .up
            phase = .waitingForDaemon
            delay = Self.firstDelay
            let reason = wasUp ? "avahi-daemon stopped" : "avahi-daemon is not running"
            return [.down(reason), .retry(after: Self.daemonPatience)]
        case .registering: return up(publishing: false)
        case .running: return up(publishing: true)
        case .failed(let error): return failed(error)
        }
    }

    /// No connection could be made, or the existing one died.
    /// - Parameter isPatient: nothing is missed until something more is wanted.
    mutating func failed(_ error: DiscoveryError, isPatient: Bool = false) -> [Action] {
        guard phase != .idle, phase != .ended else { return [] }
        phase = .waitingToRetry
        let wait = delay
        delay = min(delay * 2, Self.lastDelay)
        return [.down(error.message), .disconnect, .retry(after: isPatient ? Self.daemonPatience : wait)]
    }

    /// The backend will not come back.
    mutating func ended(_ error: DiscoveryError) -> [Action] {
        guard phase != .idle else { return [] }
        phase = .ended
        return [.down(error.message), .disconnect]
    }

    /// The pause before the next attempt is over.
    mutating func retryIsDue() -> [Action] {
        switch phase {
        case .waitingToRetry: return connecting()
        case .waitingForDaemon: return [.disconnect] + connecting()
        case .idle, .connected, .up, .ended: return []
        }
    }

    /// The connection has been up for a while: the next failure is a new one.
    mutating func held() { if phase == .up { delay = Self.firstDelay } }

    /// No operation needs the backend any more.
    mutating func unwanted() -> [Action] {
        guard phase != .idle else { return [] }
        phase = .idle
        delay = Self.firstDelay
        return [.disconnect]
    }

    private mutating func connecting() -> [Action] {
        phase = .connected
        return [.connect]
    }

    private mutating func up(publishing: Bool) -> [Action] {
        guard phase != .up else { return [.publishing(publishing)] }
        phase = .up
        return [.up, .publishing(publishing)]
    }
}
