#if Commands
internal import AvahiEngine
internal import CommandFrame
internal import DNSSD
internal import HostEngine

/// How a command runs: in which program, with which engines, with which use of the daemon, and how patiently. A value, decided once from
/// what the command needs, its options and this machine, before anything runs. `InvocationTests` has the table.
struct Invocation {
    /// What this process and its machine have.
    struct Machine {
        /// This program is `discoverd-dns`.
        var hasMore: Bool
        /// `discoverd-dns` is installed.
        var isMoreInstalled: Bool
        /// The programs of a private backend are installed.
        var canBePrivate: Bool

        static func current(with more: (any MoreSupport)?) -> Machine {
            Machine(
                hasMore: more != nil, isMoreInstalled: more != nil || SiblingProgram.dns.isInstalled,
                canBePrivate: AvahiBackend.canBePrivate)
        }
    }

    /// Which program runs the command. What only `discoverd-dns` does is the end of a sentence.
    enum Program: Equatable {
        /// This one.
        case this
        /// `discoverd-dns`.
        case more(String)
        /// The same, unless a daemon that answers at once serves the command's domains.
        case moreUnlessServed(String)
        /// The same where it is installed; this one does without.
        case moreIfPossible
    }

    /// Whether this process asks DNS servers itself.
    enum Servers: Equatable {
        case never
        /// Unless the daemon serves the command's domains.
        case unlessServed
        case always
    }

    /// How long what finds and publishes may be away, and how long it may be silent, before a command gives up with status 69.
    struct Patience: Equatable {
        var absence: Duration
        var silence: Duration

        /// Enough to start the system's avahi-daemon on demand. A busy one needs seconds for a thousand new services.
        static let system = Patience(absence: .seconds(2), silence: .seconds(8))
        /// A private backend may have to be started; with `auto`, this follows the 2 s granted to the system's.
        static let privateBackend = Patience(absence: .seconds(5), silence: .seconds(8))
        /// A command has said within 5 s that a DNS server is silent.
        static let servers = Patience(absence: .milliseconds(200), silence: .milliseconds(4500))
    }

    let needs: CommandNeeds
    let program: Program
    /// Whether and how the daemon is asked.
    let daemon: CommandNeeds.DaemonUse
    let servers: Servers
    let backend: AvahiBackend
    let finder: FinderChoice
    let patience: Patience
    let json: Bool
    /// The daemon's socket, where one was named: it has no substitute.
    let socket: String?

    /// - Throws: status 64 where the options exclude what the command needs.
    init(
        _ needs: CommandNeeds, _ options: some CommonArguments, on machine: Machine
    ) throws(CommandError) {
        (self.needs, json, socket) = (needs, options.json, options.socket)
        daemon = try Self.daemon(needs, options)
        servers = Self.servers(needs, daemon)
        program = Self.program(needs, daemon, machine)
        let `private` = PrivateBackendOptions(interfaces: needs.interfaces ?? .all, passesOutput: options.verbose)
        backend =
            switch options.backend {
            case .system: .system
            case .private: .private(`private`)
            case .auto: needs.asksAvahi ? .system : .automatic(`private`)
            }
        finder = needs.asksAvahi || needs.publishes ? .avahi : options.finder
        patience =
            switch backend {
            case _ where needs.domains.isOnlyOthers: .servers
            case .private, .automatic: machine.canBePrivate ? .privateBackend : .system
            case .system: .system
            }
    }

    private static func daemon(
        _ needs: CommandNeeds, _ options: some CommonArguments
    ) throws(CommandError) -> CommandNeeds.DaemonUse {
        switch needs.daemon {
        case .never, .wanted: return needs.daemon
        case .required(let why):
            guard !options.noDaemon else { throw CommandError(.usage, "--no-daemon is said, but \(why)") }
            return .required(why)
        case .ifPresent:
            guard !options.noDaemon, options.backend == .auto, options.finder == .auto else { return .never }
            return options.socket == nil ? .ifPresent : .required("--socket names it")
        }
    }

    private static func servers(_ needs: CommandNeeds, _ daemon: CommandNeeds.DaemonUse) -> Servers {
        let domains = needs.domains
        guard needs.daemon == .ifPresent, domains.isOptional || !domains.others.isEmpty else { return .never }
        // What this host's place recommends is asked here: the daemon would make the link wait for DNS servers.
        return domains.isSpecial || domains.isOptional || daemon == .never ? .always : .unlessServed
    }

    private static func program(_ needs: CommandNeeds, _ daemon: CommandNeeds.DaemonUse, _ machine: Machine) -> Program
    {
        if machine.hasMore { return .this }
        if let more = needs.more { return .more(more) }
        let domains = needs.domains
        if case .required = needs.daemon { return .this }
        if domains.isOptional { return machine.isMoreInstalled ? .moreIfPossible : .this }
        guard let first = domains.others.first else { return .this }
        let purpose = "asks DNS servers about \(first)"
        return servers(needs, daemon) == .unlessServed ? .moreUnlessServed(purpose) : .more(purpose)
    }
}
#endif
