internal import DNSSD
internal import DiscoveryControl

/// Why a command failed: a status for scripts, and for people a sentence and what to do about it.
struct CommandError: Error {
    let status: ExitStatus
    /// What is wrong; safe for a terminal.
    let message: String
    /// What to do, one line each.
    var advice: [String]
    /// There is no backend: what to do depends on which was asked for, and on this machine.
    private(set) var isAboutBackend = false

    init(_ status: ExitStatus, _ message: String, advice: [String] = []) {
        self.status = status
        self.message = message
        self.advice = advice
    }

    init(_ error: DiscoveryError) {
        self =
            error.code == .backendUnavailable
            ? .noBackend(error.message) : CommandError(.init(error.code), error.message)
    }

    /// What the daemon refused.
    init(_ error: ControlError) {
        let status: ExitStatus =
            switch error.status {
            case 400, 405, 413: .usage
            case 403, 429: .notPermitted
            case 404, 504: .notFound
            case 409: .nameTaken
            case 422: .badConfiguration
            default: .noBackend
            }
        self.init(status, error.message)
    }

    /// No daemon answers.
    static func noDaemon(_ paths: [String], _ what: String) -> CommandError {
        CommandError(
            .noBackend,
            "no discoverd daemon answers at \(paths.map(\.escapedForTerminal).joined(separator: " or ")), and \(what)",
            advice: ["Start it: systemctl start discoverd, or 'discoverd daemon' in another terminal."]
        )
    }

    /// Nothing on this machine answers for mDNS.
    static func noBackend(_ reason: String?) -> CommandError {
        var error = CommandError(.noBackend, "no mDNS backend: \(reason ?? "avahi-daemon did not answer in time")")
        error.isAboutBackend = true
        return error
    }
}
