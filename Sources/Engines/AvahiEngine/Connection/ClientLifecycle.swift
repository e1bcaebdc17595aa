import DNSSD

/// Decides when to connect to avahi-daemon, when to give up on a connection, and what to report to operations: the one place that knows whether
/// the backend is up. A value.
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

    /// What an operation is told that begins now.
    enum Standing: Equatable {
        case up(publishing: Bool)
        case down(String)
        /// It will be told.
        case unknown
        /// The engine was shut down.
        case over
    }

    private enum Phase: Equatable {
        case idle
        case connecting
        /// The bus answers, and will signal avahi-daemon's arrival.
        case waitingForDaemon
        /// The backend answers, and is registering the host's own name.
        case registering
        /// The backend answers and publishes.
        case running
        case waitingToRetry
        case over
    }

    /// Consecutive attempts wait 0.25, 0.5, 1, 1 … s: soon enough to return within 5 s of the backend, and rare enough to cost
    /// nothing. If the bus answers but avahi-daemon is gone, the bus signals its return and no attempts are made.
    private static let firstDelay = Duration.milliseconds(250)
    private static let lastDelay = Duration.seconds(1)

    /// An avahi-daemon that hung while a connection was made counts as absent for that connection, and the bus sends no signal when it
    /// resumes. So a new connection is made from time to time.
    private static let daemonPatience = Duration.seconds(10)

    private var phase = Phase.idle
    private var delay = firstDelay
    /// Why the backend did not answer when that was last known; nil since it has.
    private var outage: String?

    var isUp: Bool { phase == .registering || phase == .running }

    var standing: Standing {
        switch phase {
        case .over: .over
        case .registering: .up(publishing: false)
        case .running: .up(publishing: true)
        default: outage.map { .down($0) } ?? .unknown
        }
    }

    /// An operation needs the backend.
    mutating func wanted() -> [Action] {
        guard phase == .idle else { return [] }
        return connecting()
    }

    /// The engine is shut down.
    mutating func shutDown() { phase = .over }

    /// Whether an operation waits for a backend that may come.
    private var isNeeded: Bool { phase != .idle && phase != .over }

    private mutating func down(_ reason: String) -> [Action] {
        outage = reason
        return [.down(reason)]
    }

    /// A connection was made, or its state changed.
    mutating func changed(to state: AvahiConnection.State) -> [Action] {
        guard isNeeded else { return [] }
        switch state {
        case .connecting:
            let reason = isUp ? "avahi-daemon stopped" : "avahi-daemon is not running"
            phase = .waitingForDaemon
            delay = Self.firstDelay
            return down(reason) + [.retry(after: Self.daemonPatience)]
        case .registering: return up(.registering)
        case .running: return up(.running)
        case .failed(let error): return failed(error)
        }
    }

    /// No connection could be made, or the existing one died.
    mutating func failed(_ error: DiscoveryError) -> [Action] {
        guard isNeeded else { return [] }
        phase = .waitingToRetry
        let wait = delay
        delay = min(delay * 2, Self.lastDelay)
        return down(error.message) + [.disconnect, .retry(after: wait)]
    }

    /// The pause before the next attempt is over.
    mutating func retryIsDue() -> [Action] {
        switch phase {
        case .waitingToRetry: return connecting()
        case .waitingForDaemon: return [.disconnect] + connecting()
        case .idle, .connecting, .registering, .running, .over: return []
        }
    }

    /// The connection has been up for a while: the next failure is a new one.
    mutating func held() { if isUp { delay = Self.firstDelay } }

    /// No operation needs the backend any more.
    mutating func unwanted() -> [Action] {
        guard phase != .idle else { return [] }
        if phase != .over { phase = .idle }
        delay = Self.firstDelay
        return [.disconnect]
    }

    private mutating func connecting() -> [Action] {
        phase = .connecting
        return [.connect]
    }

    private mutating func up(_ phase: Phase) -> [Action] {
        let wasUp = isUp
        self.phase = phase
        outage = nil
        return (wasUp ? [] : [.up]) + [.publishing(phase == .running)]
    }
}
