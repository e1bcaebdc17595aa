#if Commands
internal import DNSSD
internal import HostEngine
internal import DiscoverySystem

/// Whether the links themselves can be asked for services.
enum WireCheck {
    static func run() -> Finding {
        finding(HostEngine.reasonWithoutWire(), holders: PortHolder.holders(of: PortHolder.multicastDNS))
    }

    /// - Parameters:
    ///   - reason: why they cannot; nil if they can.
    ///   - holders: who has the port.
    static func finding(_ reason: String?, holders: [PortHolder]) -> Finding {
        guard let reason else {
            return Finding(
                "wire", .ok, "UDP port 5353 is shared: the links can be asked beside avahi-daemon and without it")
        }
        let text = "services are found by avahi-daemon alone: \(reason)"
        guard let holder = holders.first, holders.count == 1 else { return Finding("wire", .warn, text) }
        return Finding(
            "wire", .warn, "\(text); \(holder) holds the port alone",
            advice: holder.name == "avahi-daemon"
                ? "It shares the port when it is started with disallow-other-stacks=no in \(AvahiConfigurationCheck.path)."
                : nil)
    }
}
#endif
