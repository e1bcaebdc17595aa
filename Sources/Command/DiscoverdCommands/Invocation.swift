#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem

/// How a command runs: in which program, with which engines, with which use of the daemon, and how patiently. A value, decided once from
/// what the command needs, its options and this machine, before anything runs. `InvocationTests` has the table.
struct Invocation {
    /// What this process and its machine have.
    struct Machine {
        /// This program is `discoverd-daemon`, which runs commands, too.
        var hasMore: Bool
        /// `discoverd-daemon` is installed.
        var isMoreInstalled: Bool

        static func current(with more: (any MoreSupport)?) -> Machine {
            Machine(hasMore: more != nil, isMoreInstalled: more != nil || LargeProgram.isInstalled)
        }
    }

    /// Which program runs the command. What only `discoverd-daemon` does is the end of a sentence.
    enum Program: Equatable {
        /// This one.
        case this
        /// `discoverd-daemon`.
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
        /// A command has said within 5 s that a DNS server is silent.
        static let servers = Patience(absence: .milliseconds(200), silence: .milliseconds(4500))
    }

    let needs: CommandNeeds
    let program: Program
    /// Whether and how the daemon is asked.
    let daemon: CommandNeeds.DaemonUse
    let servers: Servers
    let avahi: AvahiUse
    let finder: AvahiUse.Finder
    let patience: Patience
    /// In which version JSON is printed; nil: for people.
    let json: JSONVersion?
    /// The daemon's socket, where one was named: it has no substitute.
    let socket: String?

    /// - Throws: status 64 where the options exclude what the command needs.
    init(
        _ needs: CommandNeeds, _ options: some CommonArguments, json: JSONVersion? = nil, on machine: Machine
    ) throws(CommandError) {
        (self.needs, self.json, socket) = (needs, json, options.socket)
        daemon = try Self.daemon(needs, options)
        servers = Self.servers(needs, daemon)
        program = Self.program(needs, daemon, machine)
        // The links are asked by the command itself.
        let asksLinks = needs.daemon == .never && !needs.asksAvahi
        avahi = asksLinks || needs.asksAvahi && options.avahi == .auto ? .always : options.avahi
        finder = needs.asksAvahi ? .avahi : asksLinks ? .auto : options.finder
        patience = needs.domains.isOnlyOthers ? .servers : .system
    }

    private static func daemon(
        _ needs: CommandNeeds, _ options: some CommonArguments
    ) throws(CommandError) -> CommandNeeds.DaemonUse {
        switch needs.daemon {
        case .never, .wanted: return needs.daemon
        case .required(let why):
            guard !options.noDaemon else { throw CommandError(.usage, "no daemon is to be asked, but \(why)") }
            return .required(why)
        case .ifPresent:
            guard !options.noDaemon, options.avahi == .auto, options.finder == .auto else { return .never }
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

/// Finds the daemon that a command asks.
extension Invocation {
    /// How long a listening daemon may take to answer before a command continues without it: a busy machine needs hundreds of milliseconds.
    private static let answerTime = Duration.seconds(2)
    /// The same when the command cannot do without the daemon: for a busy machine, and for requests queued before this one.
    private static let longAnswerTime = Duration.seconds(5)

    /// - Throws: status 69 if a daemon is required, or named by `--socket`, and does not answer.
    func findDaemon(_ notices: ProgramNotices) throws(CommandError) -> ControlClient? {
        let paths = ControlSocketPath.candidates(explicit: socket)
        switch daemon {
        case .never: return nil
        case .wanted: return try Self.required(paths, "this command asks it")
        case .required(let why): return try Self.required(paths, why)
        case .ifPresent: break
        }
        notices.detail("looking for the daemon at \(paths.map(\.escapedForTerminal).joined(separator: ", "))")
        let found = ControlClient.find(paths, within: Self.answerTime)
        for refusal in found.refusals { notices.notice("the daemon is not asked: \(refusal)") }
        for path in found.silent {
            notices.notice(
                "the daemon at \(path.escapedForTerminal) did not answer within \(Self.answerTime.inSeconds) s and is not asked: "
                    + "'discoverd doctor' says what to do")
        }
        if let daemon = found.daemon { notices.detail("the daemon at \(daemon.path.escapedForTerminal) answers") }
        return found.daemon
    }

    /// Whether a daemon that answers at once serves every domain of the command; asked before the command has begun.
    var isServedNow: Bool {
        ControlClient.find(ControlSocketPath.candidates(explicit: socket), within: .milliseconds(300)).daemon
            .map(isServed) ?? false
    }

    /// Whether a daemon serves every domain of the command.
    func isServed(by daemon: ControlClient) -> Bool {
        let others = needs.domains.others
        if others.isEmpty { return true }
        let asked = daemon.answer(to: ControlClient.Request("GET", "/v1/status"), within: Self.answerTime)
        guard case .success(let bytes) = asked, let status = try? JSONReader.read(bytes) else { return false }
        let served = (status["domains"]?.array ?? []).compactMap { entry in
            entry["name"]?.string.flatMap { Domain(observed: $0) }
        }
        return others.allSatisfy { domain in served.contains(where: domain.isWithin) }
    }

    private static func required(_ paths: [String], _ why: String) throws(CommandError) -> ControlClient {
        let found = ControlClient.find(paths, within: longAnswerTime)
        if let daemon = found.daemon { return daemon }
        if let path = found.silent.first {
            throw CommandError(
                .noBackend,
                "the daemon at \(path.escapedForTerminal) did not answer within \(longAnswerTime.inSeconds) s, and \(why)",
                advice: ["Restart it: systemctl restart discoverd."])
        }
        guard let refusal = found.refusals.first else { throw .noDaemon(paths, why) }
        throw CommandError(.notPermitted, refusal)
    }
}
#endif
