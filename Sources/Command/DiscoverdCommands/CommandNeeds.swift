#if Commands
internal import ArgumentParser
internal import CommandFrame
package import DNSSD
internal import Discovery
internal import DiscoveryControl

/// What a run of a command needs, as its options say. A value; `Invocation` decides from it how the command runs.
struct CommandNeeds {
    /// How the command uses the daemon.
    enum DaemonUse: Equatable {
        /// Asked where it answers, unless `--socket none`, `--avahi` or `--finder` says otherwise.
        case ifPresent
        /// The command cannot work without it: why, as the end of a sentence.
        case required(String)
        /// The command shows what it can without it, and fails then (`Session.requireDaemon()`).
        case wanted
        /// The command is about the machine itself.
        case never
    }

    /// How the command ends from outside.
    struct Ending: Equatable {
        /// The exit status when a signal ends it.
        var status = ExitStatus.done
        /// It is pointless once no one reads standard output.
        var isWhenUnread = true
        /// How long it may take.
        var grace = Duration.milliseconds(500)

        /// Of a command that publishes, also when no one reads that it does: goodbyes take 1.5 s to send, plus time to start.
        static func publishing(status: ExitStatus = .done) -> Ending {
            Ending(status: status, isWhenUnread: false, grace: .seconds(4))
        }
    }

    var daemon = DaemonUse.ifPresent
    /// Which domains it is about.
    var domains = DomainWish()
    /// The interfaces that it can be limited to; nil where it cannot.
    var interfaces: InterfaceFilter?
    /// The types that it looks for.
    var types: [ServiceType] = []
    /// It publishes, and finds nothing.
    var publishes = false
    /// The check that gates its service; only a daemon can run it.
    var check: RegistrationRequest.Check?
    /// It is about the system's avahi-daemon itself, whatever finds services.
    var asksAvahi = false
    /// What only `discoverd-daemon` can do of it, as the end of a sentence, besides what its domains need.
    var more: String?
    var ending = Ending()
    /// Its standard output belongs to a connection.
    var isConnection = false

    /// What only `discoverd-daemon` can do.
    static let tls = "speaks TLS"
    static let page = "serves the page"
    /// Needed to say whether a service's key is known where the names are hashed.
    static var hashes: String? { KeyStates.needHashes ? tls : nil }

    /// Of a command that asks the daemon, and nothing else.
    static let daemon = CommandNeeds(daemon: .required("this command asks it"))
}

/// A command that uses the network.
protocol NetworkCommand: ParsableCommand {
    associatedtype Common: CommonArguments
    var common: Common { get }
    var output: OutputOptions { get }

    /// What this run needs. Asked once, before anything runs.
    func needs() throws -> CommandNeeds

    /// Runs the command. When the task is cancelled it ends early, in any way it likes: `session.stop` has the cause.
    func execute(in session: Session) async throws -> ExitStatus
}

/// A command without a network.
protocol LocalCommand: ParsableCommand {
    /// What only `discoverd-daemon` can do of it, as the end of a sentence; nil where this program can do all.
    var needsMore: String? { get }

    /// It has no purpose but what it prints.
    static var onlyPrints: Bool { get }

    /// - Parameter more: nil in the program that has no more.
    func run(with more: (any MoreSupport)?) throws
}

extension LocalCommand {
    var needsMore: String? { nil }
    static var onlyPrints: Bool { false }
}

/// Which domains a command is about, with the server and key that it names for them. A value.
package struct DomainWish: Hashable, Sendable {
    /// The domains.
    package var domains: [Domain] = [.local]
    /// The DNS server that was named: an address or a name, perhaps with a port.
    package var server: String?
    /// The file of the key that was named.
    package var keyFile: String?
    /// The command publishes there.
    package var publishes = false
    /// The command can do without those of other domains.
    package var isOptional = false

    /// Those that a DNS server serves.
    package var others: [Domain] { domains.filter { $0 != .local } }
    /// None of them is on the link.
    package var isOnlyOthers: Bool { !domains.contains(.local) }
    /// A server or a key was named on the command line, so that no daemon's settings count.
    package var isSpecial: Bool { server != nil || keyFile != nil }
}
#endif
