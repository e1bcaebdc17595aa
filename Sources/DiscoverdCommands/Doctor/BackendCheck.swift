#if Commands
internal import AvahiEngine
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import DiscoveryControl
internal import DiscoverySystem

/// Whether avahi-daemon answers.
enum BackendCheck {
    static func run(in session: Session) async throws -> Finding {
        let states = session.network.backendStates()
        // The last reason reported; empty if there was none.
        let last = await withTimeLimit(Invocation.Patience.system.absence) { () -> String? in
            var last = ""
            var iterator = states.makeAsyncIterator()
            while !Task.isCancelled, let state = try? await iterator.next() {
                guard let reason = state.reason else { return nil }
                last = reason
            }
            return last
        }
        guard let last else { return Finding("avahi", .ok, "avahi-daemon answers") }
        let reason = last.isEmpty ? "it did not answer within \(Invocation.Patience.system.absence.inSeconds) s" : last
        return absent(reason, holders: PortHolder.holders(of: PortHolder.multicastDNS))
    }

    /// Why there is no answer, and what to do. If avahi-daemon runs but is silent, installing it is no advice.
    /// - Parameter holders: processes that listen on UDP 5353.
    static func absent(_ reason: String, holders: [PortHolder]) -> Finding {
        if let own = holders.first(where: \.isPrivate) {
            return Finding(
                "avahi", .warn,
                "the system has none that answers (\(reason)); discoverd's commands share a private one, \(own)",
                advice: "It serves them alone. For other programs install avahi-daemon and start it.")
        }
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
