#if Commands
internal import AvahiEngine
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import System

/// Whether avahi-daemon answers.
enum BackendCheck {
    static func run(in session: Session) async throws -> Finding {
        var reason = "it did not answer within \(Session.backendPatience.inSeconds) s"
        let network = session.network
        let states = network.backendStates()
        let limit = Task { try await Task.sleep(for: Session.backendPatience) }
        let answer = Task { () -> String? in
            var last: String?
            for try await state in states {
                guard let reason = state.reason else {
                    limit.cancel()
                    return nil
                }
                last = reason
                if Task.isCancelled { break }
            }
            return last ?? ""
        }
        let isLate = (try? await limit.value) != nil
        answer.cancel()
        guard isLate else { return Finding("avahi", .ok, "avahi-daemon answers") }
        if let last = try? await answer.value, !last.isEmpty { reason = last }
        return absent(reason, holders: PortHolder.holders(of: PortHolder.multicastDNS))
    }

    /// Why there is no answer, and what to do: one that runs and does not answer need not be installed.
    /// - Parameter holders: who listens on UDP 5353.
    static func absent(_ reason: String, holders: [PortHolder]) -> Finding {
        if let hung = holders.first(where: { $0.name == "avahi-daemon" }) {
            return Finding(
                "avahi", .fail, "\(hung) runs and does not answer: \(reason)",
                advice: "Restart it: systemctl restart avahi-daemon.")
        }
        return Finding(
            "avahi",
            .fail,
            "no answer from avahi-daemon: \(reason)",
            advice: "Install it (apt install avahi-daemon) and start it (systemctl start avahi-daemon)."
        )
    }
}
#endif
