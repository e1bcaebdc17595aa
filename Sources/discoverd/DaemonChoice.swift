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
            guard let daemon = ControlClient.find(paths, within: .seconds(2)) else {
                throw .noDaemon(paths, "this command asks it")
            }
            return daemon
        case .ifPresent: break
        }
        if let why = command.needsDaemon {
            guard !common.noDaemon else { throw CommandError(.usage, "--no-daemon is said, but \(why)") }
            guard let daemon = ControlClient.find(paths, within: .seconds(2)) else { throw .noDaemon(paths, why) }
            return daemon
        }
        guard !common.noDaemon, common.backend == .auto else { return nil }
        // One that is named has nobody in its stead, so it gets the time that a busy machine takes.
        let found = common.socket == nil ? ControlClient.find(paths) : ControlClient.find(paths, within: .seconds(2))
        if let daemon = found {
            command.common.notices.detail("the daemon at \(daemon.path.escapedForTerminal) answers")
            return daemon
        }
        guard common.socket == nil else { throw .noDaemon(paths, "--socket names it") }
        return nil
    }
}
