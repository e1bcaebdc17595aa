#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON

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
