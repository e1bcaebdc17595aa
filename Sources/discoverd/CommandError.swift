internal import DNSSD

/// Why a command failed: a status for scripts, and for people a sentence and what to do about it.
struct CommandError: Error {
    let status: ExitStatus
    /// What is wrong; safe for a terminal.
    let message: String
    /// What to do, one line each.
    var advice: [String]

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

    /// Nothing on this machine answers for mDNS.
    static func noBackend(_ reason: String?) -> CommandError {
        CommandError(
            .noBackend,
            "no mDNS backend: \(reason ?? "avahi-daemon did not answer in time")",
            advice: [
                "Install it (apt install avahi-daemon) and start it (systemctl start avahi-daemon).",
                "'discoverd doctor' says what is missing.",
            ]
        )
    }
}
