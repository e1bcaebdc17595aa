#if Commands
internal import AvahiEngine
internal import CommandFrame
internal import System

/// What to do where there is no backend: what this machine lacks for the one that was asked for.
enum BackendAdvice {
    private static let doctor = "'discoverd doctor' says what is missing."

    /// For the system's. The daemon's backend as well: what this command could do itself would not help that.
    static let ofSystem = [
        "Install it (apt install avahi-daemon) and start it (systemctl start avahi-daemon).", doctor,
    ]

    static func lines(for backend: AvahiBackend) -> [String] {
        lines(
            canBePrivate: backend != .system && AvahiBackend.canBePrivate,
            isChosen: { if case .private = backend { true } else { false } }(),
            holders: PortHolder.holders(of: PortHolder.multicastDNS).map(\.description))
    }

    /// - Parameters:
    ///   - canBePrivate: a private backend may be used, and its programs are installed: installing more would not help.
    ///   - isChosen: only a private one is wanted.
    ///   - holders: who has UDP 5353, beside whom a private one is not started.
    static func lines(canBePrivate: Bool, isChosen: Bool, holders: [String]) -> [String] {
        guard canBePrivate else { return ofSystem }
        guard !holders.isEmpty else {
            return [
                "Start the system's (systemctl start avahi-daemon), or run the command as root or where user namespaces are allowed.",
                doctor,
            ]
        }
        let instead = isChosen ? "Use the system's avahi-daemon (--backend system)" : "Start the system's avahi-daemon"
        return ["\(instead), or stop what has UDP port 5353: \(holders.joined(separator: ", ")).", doctor]
    }
}
#endif
