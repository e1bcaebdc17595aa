#if Commands
internal import AvahiEngine
internal import CommandFrame
internal import DiscoverySystem

/// Advice for a user whose command found no backend: what this machine lacks.
enum BackendAdvice {
    private static let doctor = "'discoverd doctor' says what is missing."

    /// Advice about the system's avahi-daemon. Also right when the daemon has no backend: nothing this command could start would help it.
    static func ofSystem() -> [String] {
        lines(canBePrivate: false, isChosen: false, hung: .ofSystemAvahi, holders: [])
    }

    static func lines(for backend: AvahiBackend) -> [String] {
        lines(
            canBePrivate: backend != .system && AvahiBackend.canBePrivate,
            isChosen: { if case .private = backend { true } else { false } }(), hung: .ofSystemAvahi,
            holders: PortHolder.holders(of: PortHolder.multicastDNS).map(\.description))
    }

    /// - Parameters:
    ///   - canBePrivate: a private backend is allowed and its programs are installed, so installing more would not help.
    ///   - isChosen: the user asked for a private backend.
    ///   - hung: the system's avahi-daemon, which runs, and does not answer.
    ///   - holders: processes that hold UDP 5353; a private backend does not start beside them.
    static func lines(canBePrivate: Bool, isChosen: Bool, hung: PortHolder?, holders: [String]) -> [String] {
        if let hung, !isChosen {
            return ["\(hung) runs and does not answer. Restart it: systemctl restart avahi-daemon.", doctor]
        }
        guard canBePrivate else {
            return ["Install it (apt install avahi-daemon) and start it (systemctl start avahi-daemon).", doctor]
        }
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

extension PortHolder {
    /// This machine's avahi-daemon, as far as this user sees: of others' processes only the user. Not one that discoverd started.
    static var ofSystemAvahi: PortHolder? {
        holders(of: multicastDNS).first {
            $0.process == nil && Accounts.userName(of: $0.user) == "avahi" || $0.name == "avahi-daemon" && !$0.isPrivate
        }
    }

    /// Whether discoverd started this process: its parent is discoverd's supervisor, recognised by its name.
    var isPrivate: Bool {
        guard let process, name == "avahi-daemon",
            let line = SystemFile.lines(of: "/proc/\(process)/status")?.first(where: { $0.hasPrefix("PPid:") }),
            let parent = line.split(whereSeparator: \.isWhitespace).last
        else { return false }
        return SystemFile.lines(of: "/proc/\(parent)/comm")?.first == "discoverd-priv"
    }
}
#endif
