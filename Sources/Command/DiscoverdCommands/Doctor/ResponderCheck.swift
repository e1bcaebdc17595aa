#if Commands
internal import AvahiEngine
internal import CommandFrame
internal import DNSSD
internal import DiscoverySystem

/// Who listens on UDP 5353. A second mDNS stack takes unicast answers from avahi-daemon and may claim the same names.
enum ResponderCheck {
    static func run() -> [CheckResult] { findings(of: PortHolder.holders(of: PortHolder.multicastDNS)) }

    /// - Parameter holders: one for each socket.
    static func findings(of holders: [PortHolder]) -> [CheckResult] {
        guard !holders.isEmpty else {
            return [
                CheckResult(
                    "responder",
                    .warn,
                    "nothing listens on UDP port 5353",
                    advice: "Start avahi-daemon, or look into its log for why it does not: journalctl -u avahi-daemon."
                )
            ]
        }
        let known = Dictionary(grouping: holders.filter { $0.process != nil }, by: \.process).values
            .compactMap(\.first).sorted { ($0.process ?? 0) < ($1.process ?? 0) }
        let avahi = known.filter { $0.name == "avahi-daemon" }
        var findings: [CheckResult] = []
        switch avahi.count {
        case 0: break
        case 1: findings.append(CheckResult("responder", .ok, "\(avahi[0]) listens on UDP port 5353"))
        default:
            findings.append(
                CheckResult(
                    "responder", .fail,
                    "\(avahi.count) avahi-daemons answer for this machine: \(avahi.map(\.description).joined(separator: ", "))",
                    advice:
                        "They take each other's answers and names: leave the system's, and stop what started the other, "
                        + "as 'discoverd … --backend private'."))
        }
        findings += known.filter { $0.name != "avahi-daemon" }.map { other($0, besides: avahi.first) }
        let unknown = Set(holders.filter { $0.process == nil }.map(\.user)).sorted()
        if !unknown.isEmpty {
            findings.append(
                CheckResult(
                    "responder",
                    known.isEmpty ? .ok : .warn,
                    "\(known.isEmpty ? "a process" : "another process") of user \(unknown.map(String.init).joined(separator: ", ")) listens on UDP port 5353",
                    advice: "Run 'discoverd doctor' as root to see which."
                )
            )
        }
        return findings
    }

    private static func other(_ holder: PortHolder, besides avahi: PortHolder?) -> CheckResult {
        let advice =
            holder.name?.hasPrefix("systemd-resolve") == true
            ? "Set MulticastDNS=no in /etc/systemd/resolved.conf and restart systemd-resolved."
            : "Two mDNS stacks on a host disturb each other: stop one, or let it use avahi-daemon."
        return CheckResult(
            "responder", .warn, "\(holder) listens on UDP port 5353\(avahi == nil ? "" : " too")", advice: advice)
    }
}
#endif
