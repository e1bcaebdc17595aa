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

    /// The exit status when a signal ends the command.
    static var statusWhenStopped: ExitStatus { get }

    /// The command is pointless once no one reads standard output.
    static var endsWhenUnread: Bool { get }

    /// This run publishes and finds nothing.
    var publishes: Bool { get }

    /// The command is about the system's avahi-daemon itself, whatever the finder.
    static var asksAvahi: Bool { get }

    /// How long the command may take to end once asked to.
    static var grace: Duration { get }

    /// Whether to ask the daemon or the backend itself.
    static var daemonUse: DaemonUse { get }

    /// The types that this run looks for.
    var sought: [ServiceType] { get }

    /// Which domains the command is about.
    var wish: DomainWish { get }

    /// This run speaks TLS.
    var needsTLS: Bool { get }

    /// This run serves the page.
    var needsPage: Bool { get }

    /// Why this run requires a daemon, as the end of a sentence; nil if it does not.
    var needsDaemon: String? { get }

    /// The check that gates the command's service; only a daemon can run it.
    var check: RegistrationRequest.Check? { get }

    /// Runs the command. When the task is cancelled it ends early, in any way it likes: `session.stop` has the cause.
    func execute(in session: Session) async throws -> ExitStatus
}

/// A network command that can be limited to some interfaces.
protocol PlacedCommand: NetworkCommand {
    var place: NetworkOptions { get }
}

/// How a command uses the daemon.
enum DaemonUse {
    /// Ask it if it answers, unless `--no-daemon`, `--finder` or `--backend` is given.
    case ifPresent
    /// The command cannot work without it.
    case required
    /// The command shows what it can without it, and fails then (`Session.requireDaemon()`).
    case wanted
    /// The command is about the backend itself.
    case never
}

extension NetworkCommand {
    static var daemonUse: DaemonUse { .ifPresent }
    var needsTLS: Bool { false }
    var needsPage: Bool { false }
    var needsDaemon: String? { nil }
    var sought: [ServiceType] { [] }
    var wish: DomainWish { DomainWish() }
    var check: RegistrationRequest.Check? { nil }
    static var statusWhenStopped: ExitStatus { .done }
    static var endsWhenUnread: Bool { true }
    var publishes: Bool { false }
    static var asksAvahi: Bool { false }
    static var grace: Duration { .milliseconds(500) }
}

/// Everything a running command works with.
struct Session {
    /// How long a backend may be absent before a command gives up with status 69: enough to start it on demand.
    static let backendPatience = Duration.seconds(2)
    /// The same if a private backend may have to be started; with `auto`, this follows the 2 s granted to the system's.
    static let privateBackendPatience = Duration.seconds(5)
    /// How long a present backend may be silent: a busy avahi-daemon needs seconds for a thousand new services.
    static let silencePatience = Duration.seconds(8)
    /// How long a DNS server may be silent: a command has said so within 5 s.
    static let serverPatience = Duration.milliseconds(4500)

    let network: LocalNetwork
    /// The daemon, if one is used and answers.
    let daemon: ControlClient?
    /// Why there is none, for a command that wants it.
    let whyNoDaemon: CommandError?
    let output: Output
    let notices: ProgramNotices
    let stop: Stop
    let watcher: Watcher
    let terminal: Terminal
    let json: Bool
    let patience: Duration
    /// How long what finds and publishes may be silent.
    let silence: Duration
    /// Domains whose servers may name any address.
    let namedDomains: Set<Domain>
    /// Only DNS servers are asked: no backend of this machine.
    let isUnicast: Bool
    /// DNS servers alone, where a command can do without them.
    let servers: (network: LocalNetwork, resolvers: [String])?
    /// Asks DNS servers; nil in the program that cannot.
    let dns: DNSSupport?
    /// Speaks TLS; nil in the program that cannot.
    let tls: TLSSupport?
    /// Serves the page; nil in the program that cannot.
    let page: PageSupport?
}

extension Session {
    /// The status of a command whose stream ended, or that `stop` ended.
    func status(found: Bool, backend: BackendGate) async throws -> ExitStatus {
        switch stop.cause {
        case .signal, .unread: return .done
        case .programEnded(let status): return status
        case .failed(let error): throw error
        case .noBackend, .timedOut, nil:
            if stop.cause != .noBackend, backend.isOpen {
                // That a domain has nothing is for its server to say.
                if !found, let reason = backend.silentServer { throw Self.silence(reason) }
                return found ? .done : .notFound
            }
            guard backend.reason == nil, await daemonFinds() else { throw absence(backend.reason) }
            return found ? .done : .notFound
        }
    }

    /// Nothing answers that could find or publish.
    func absence(_ reason: String?) -> CommandError {
        isUnicast ? Self.silence(reason ?? "none has answered in time") : .noBackend(reason)
    }

    private static func silence(_ reason: String) -> CommandError {
        CommandError(.noBackend, "no DNS server: \(reason)")
    }

    /// Whether the daemon's finder answers. A daemon with no events to send does not say so by itself.
    private func daemonFinds() async -> Bool {
        guard let answer = try? await daemon?.send(ControlClient.Request("GET", "/v1/status"), within: .seconds(1)),
            let state = (try? JSONReader.read(answer))?["finder"]?["state"]?.string
        else { return false }
        return state == "available" || state == "recovered"
    }
}
#endif
