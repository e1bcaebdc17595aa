#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON

/// A command that uses the network.
protocol NetworkCommand: ParsableCommand {
    associatedtype Common: CommonArguments
    var common: Common { get }

    /// The status when a signal ends the command.
    static var statusWhenStopped: ExitStatus { get }

    /// Whether there is nothing left to do once nobody reads standard output.
    static var endsWhenUnread: Bool { get }

    /// Whether `--backend auto` may start a private one.
    static var startsPrivateBackend: Bool { get }

    /// Whether the command is about avahi-daemon itself, whatever finds otherwise.
    static var asksAvahi: Bool { get }

    /// How long the command may take to end once it was asked to.
    static var grace: Duration { get }

    /// Whether the daemon is asked, or the backend itself.
    static var daemonUse: DaemonUse { get }

    /// Why this run needs a daemon, if it does: ends a sentence.
    var needsDaemon: String? { get }

    /// What must pass for what the command publishes to be advertised; only a daemon can check it.
    var check: RegistrationRequest.Check? { get }

    /// Does it. Ends early, in whatever way, when the task is cancelled: `session.stop` says why.
    func execute(in session: Session) async throws -> ExitStatus
}

/// A network command that can be kept to some interfaces.
protocol PlacedCommand: NetworkCommand {
    var place: NetworkOptions { get }
}

/// What a command has to do with the daemon.
enum DaemonUse {
    /// It is asked when it answers, unless `--no-daemon` or `--backend` is said.
    case ifPresent
    /// Without it there is nothing to do.
    case required
    /// The command is about the backend itself.
    case never
}

extension NetworkCommand {
    static var daemonUse: DaemonUse { .ifPresent }
    var needsDaemon: String? { nil }
    var check: RegistrationRequest.Check? { nil }
    static var statusWhenStopped: ExitStatus { .done }
    static var endsWhenUnread: Bool { true }
    static var startsPrivateBackend: Bool { true }
    static var asksAvahi: Bool { false }
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
    /// The daemon that answers, if one is asked.
    let daemon: ControlClient?
    let output: Output
    let notices: ProgramNotices
    let stop: Stop
    let watcher: Watcher
    let terminal: Terminal
    let json: Bool
    let patience: Duration
}

extension Session {
    /// The status of a command that `stop` ended, or whose stream ended.
    func status(found: Bool, backend: BackendGate) async throws -> ExitStatus {
        switch stop.cause {
        case .signal, .unread: return .done
        case .programEnded(let status): return status
        case .failed(let error): throw error
        case .noBackend, .timedOut, nil:
            if stop.cause != .noBackend, backend.isOpen { return found ? .done : .notFound }
            guard backend.reason == nil, await daemonHasBackend() else { throw CommandError.noBackend(backend.reason) }
            return found ? .done : .notFound
        }
    }

    /// A daemon that has nothing to tell yet does not tell that its backend is there.
    private func daemonHasBackend() async -> Bool {
        guard let answer = try? await daemon?.send(ControlClient.Request("GET", "/v1/status"), within: .seconds(1)),
            let state = (try? JSONReader.read(answer))?["backend"]?["state"]?.string
        else { return false }
        return state == "available" || state == "recovered"
    }
}
#endif
