internal import ArgumentParser
internal import DNSSD
internal import Discovery

/// A command that uses the network.
protocol NetworkCommand: ParsableCommand {
    var common: CommonOptions { get }

    /// The status when a signal ends the command.
    static var statusWhenStopped: ExitStatus { get }

    /// Whether there is nothing left to do once nobody reads standard output.
    static var endsWhenUnread: Bool { get }

    /// Whether `--backend auto` may start a private one.
    static var startsPrivateBackend: Bool { get }

    /// How long the command may take to end once it was asked to.
    static var grace: Duration { get }

    /// Does it. Ends early, in whatever way, when the task is cancelled: `session.stop` says why.
    func execute(in session: Session) async throws -> ExitStatus
}

/// A network command that can be kept to some interfaces.
protocol PlacedCommand: NetworkCommand {
    var place: NetworkOptions { get }
}

extension NetworkCommand {
    static var statusWhenStopped: ExitStatus { .done }
    static var endsWhenUnread: Bool { true }
    static var startsPrivateBackend: Bool { true }
    static var grace: Duration { .milliseconds(500) }
}

/// What a running command works with.
struct Session {
    /// How long a backend may be absent before a command gives up with status 69: the time to start it on demand.
    static let backendPatience = Duration.seconds(2)
    /// The same where a private one may have to be started, with `auto` after the system's had its 2 s.
    static let privateBackendPatience = Duration.seconds(5)
    /// How long a backend that is there may be silent: a busy avahi-daemon needs seconds for a thousand new services.
    static let silencePatience = Duration.seconds(8)

    let network: LocalNetwork
    let output = Output()
    let notices: Notices
    let stop: Stop
    let watcher: Watcher
    let terminal = Terminal.current()
    let json: Bool
    let patience: Duration
}

extension Session {
    /// The status of a command that `stop` ended, or whose stream ended.
    func status(found: Bool, backend: BackendGate) throws -> ExitStatus {
        switch stop.cause {
        case .signal, .unread: return .done
        case .programEnded(let status): return status
        case .noBackend: throw CommandError.noBackend(backend.reason)
        case .timedOut, nil:
            guard backend.isOpen else { throw CommandError.noBackend(backend.reason) }
            return found ? .done : .notFound
        }
    }
}
