#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl

extension CommandError {
    /// The process was started without a standard output.
    static var closedOutput: CommandError { CommandError(.ioError, "standard output is closed") }

    /// Only `discoverd-daemon` speaks TLS.
    static var noTLS: CommandError {
        CommandError(.programNotFound, "this program has no TLS: discoverd-daemon has it")
    }

    /// The daemon's refusal as a command's error.
    init(_ error: ControlError) {
        let status: ExitStatus =
            switch error.status {
            case 400, 405, 413: .usage
            case 403, 429: .notPermitted
            case 404, 504: .notFound
            case 409: .cannotCreate
            case 422: .badConfiguration
            default: .noBackend
            }
        // What the library has a status for of its own.
        let own = ExitStatus(error.discoveryError.code)
        self.init([.unreachable, .badConfiguration].contains(own) ? own : status, error.message)
    }

    /// Any error of a command that is about these domains.
    init(of error: any Error, asking wish: DomainWish) {
        switch error {
        case let error as CommandError: self = error
        case let error as DiscoveryError where error.code == .backendUnavailable && wish.isOnlyOthers:
            self.init(.noBackend, error.message)
        case let error as DiscoveryError: self.init(error)
        case let error as ControlError: self.init(error)
        default: self.init(.systemError, String(describing: error))
        }
    }

    /// No daemon answers.
    static func noDaemon(_ paths: [String], _ what: String) -> CommandError {
        CommandError(
            .noBackend,
            "no discoverd daemon answers at \(paths.map(\.escapedForTerminal).joined(separator: " or ")), and \(what)",
            advice: ["Start it: systemctl start discoverd, or 'discoverd daemon' in another terminal."])
    }
}

extension ProgramNotices {
    /// Notices of discoverd itself.
    init(level: Level = .normal) { self.init(program: "discoverd", level: level) }
}
#endif
