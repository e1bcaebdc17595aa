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
        let states = session.network.backendStates()
        // The last reason that was told; empty when there was none.
        let last = await withTimeLimit(Session.backendPatience) { () -> String? in
            var last = ""
            var iterator = states.makeAsyncIterator()
            while !Task.isCancelled, let state = try? await iterator.next() {
                guard let reason = state.reason else { return nil }
                last = reason
            }
            return last
        }
        guard let last else { return Finding("avahi", .ok, "avahi-daemon answers") }
        let reason = last.isEmpty ? "it did not answer within \(Session.backendPatience.inSeconds) s" : last
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
