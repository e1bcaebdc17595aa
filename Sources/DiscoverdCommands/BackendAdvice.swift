#if Commands
internal import AvahiEngine
internal import CommandFrame
internal import DiscoverySystem

/// Advice for a user whose command found no backend: what this machine lacks.
enum BackendAdvice {
    private static let doctor = "'discoverd doctor' says what is missing."

    /// Advice about the system's avahi-daemon. Also right when the daemon has no backend: nothing this command could start would help it.
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
    ///   - canBePrivate: a private backend is allowed and its programs are installed, so installing more would not help.
    ///   - isChosen: the user asked for a private backend.
    ///   - holders: processes that hold UDP 5353; a private backend does not start beside them.
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
