#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON
internal import HostEngine

/// Decides whether a command asks a daemon or goes to the backend itself.
enum DaemonChoice {
    /// How long a listening daemon may take to answer before a command continues without it: a busy machine needs hundreds of milliseconds.
    private static let patience = Duration.seconds(2)
    /// The same when the command cannot do without the daemon.
    private static let longPatience = Duration.seconds(5)

    /// - Throws: status 69 if a daemon is required, or named by `--socket`, and does not answer.
    static func daemon(for command: any NetworkCommand) throws(CommandError) -> ControlClient? {
        let common = command.common
        let paths = ControlSocketPath.candidates(explicit: common.socket)
        switch type(of: command).daemonUse {
        case .never: return nil
        case .required, .wanted:
            return try required(paths, "this command asks it")
        case .ifPresent: break
        }
        if let why = command.needsDaemon {
            guard !common.noDaemon else { throw CommandError(.usage, "--no-daemon is said, but \(why)") }
            return try required(paths, why)
        }
        guard !common.noDaemon, common.backend == .auto, common.finder == .auto else { return nil }
        // A daemon named on the command line has no substitute.
        if common.socket != nil { return try required(paths, "--socket names it") }
        let notices = command.common.notices
        notices.detail("looking for the daemon at \(paths.map(\.escapedForTerminal).joined(separator: ", "))")
        let found = ControlClient.find(paths, within: patience)
        for refusal in found.refusals { notices.notice("the daemon is not asked: \(refusal)") }
        for path in found.silent {
            notices.notice(
                "the daemon at \(path.escapedForTerminal) did not answer within \(patience.inSeconds) s and is not asked: "
                    + "'discoverd doctor' says what to do")
        }
        if let daemon = found.daemon {
            notices.detail("the daemon at \(daemon.path.escapedForTerminal) answers")
        }
        return found.daemon
    }

    /// A daemon that answers at once; asked before a command has begun.
    static func daemonNow(for command: any NetworkCommand) -> ControlClient? {
        let common = command.common
        guard !common.noDaemon, common.backend == .auto, common.finder == .auto else { return nil }
        return ControlClient.find(ControlSocketPath.candidates(explicit: common.socket), within: .milliseconds(300))
            .daemon
    }

    /// Whether a daemon serves every domain that a command is about.
    static func serves(_ daemon: ControlClient, _ wish: DomainWish) -> Bool {
        // What this host's place recommends is asked here: the daemon would make the link wait for DNS servers.
        guard !wish.isSpecial, !wish.isOptional else { return false }
        if wish.others.isEmpty { return true }
        let asked = daemon.answer(to: ControlClient.Request("GET", "/v1/status"), within: patience)
        guard case .success(let bytes) = asked, let status = try? JSONReader.read(bytes) else { return false }
        let served = (status["domains"]?.array ?? []).compactMap { entry in
            entry["name"]?.string.flatMap { Domain(observed: $0) }
        }
        return wish.others.allSatisfy { domain in served.contains(where: domain.isWithin) }
    }

    /// Waits longer: for a busy machine, and for requests queued before this one.
    private static func required(_ paths: [String], _ why: String) throws(CommandError) -> ControlClient {
        let found = ControlClient.find(paths, within: longPatience)
        if let daemon = found.daemon { return daemon }
        if let path = found.silent.first {
            throw CommandError(
                .noBackend,
                "the daemon at \(path.escapedForTerminal) did not answer within \(longPatience.inSeconds) s, and \(why)",
                advice: ["Restart it: systemctl restart discoverd."])
        }
        guard let refusal = found.refusals.first else { throw .noDaemon(paths, why) }
        throw CommandError(.notPermitted, refusal)
    }
}
#endif
