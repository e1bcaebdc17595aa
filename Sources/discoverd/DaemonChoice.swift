internal import DNSSD
internal import DiscoveryControl

/// Whether a command asks a daemon or goes to the backend itself.
enum DaemonChoice {
    /// - Throws: 69 when a daemon is needed, or named by `--socket`, and does not answer.
    static func daemon(for command: any NetworkCommand) throws(CommandError) -> ControlClient? {
        let common = command.common
        let paths = ControlSocketPath.candidates(explicit: common.socket)
        switch type(of: command).daemonUse {
        case .never: return nil
        case .required:
            return try required(paths, "this command asks it")
        case .ifPresent: break
        }
        if let why = command.needsDaemon {
            guard !common.noDaemon else { throw CommandError(.usage, "--no-daemon is said, but \(why)") }
            return try required(paths, why)
        }
        guard !common.noDaemon, common.backend == .auto else { return nil }
        // One that is named has nobody in its stead.
        if common.socket != nil { return try required(paths, "--socket names it") }
        let found = ControlClient.find(paths)
        for refusal in found.refusals { command.common.notices.notice("the daemon is not asked: \(refusal)") }
        if let daemon = found.daemon {
            command.common.notices.detail("the daemon at \(daemon.path.escapedForTerminal) answers")
        }
        return found.daemon
    }

    /// It gets the time that a busy machine takes, and the requests before this one.
    private static func required(_ paths: [String], _ why: String) throws(CommandError) -> ControlClient {
        let found = ControlClient.find(paths, within: .seconds(5))
        if let daemon = found.daemon { return daemon }
        guard let refusal = found.refusals.first else { throw .noDaemon(paths, why) }
        throw CommandError(.notPermitted, refusal)
    }
}
