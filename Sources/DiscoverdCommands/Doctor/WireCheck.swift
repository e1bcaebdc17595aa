#if Commands
internal import DNSSD
internal import HostEngine

/// Whether the links themselves can be asked for services.
enum WireCheck {
    static func run() -> Finding { finding(HostEngine.reasonWithoutWire()) }

    /// - Parameter reason: why they cannot; nil if they can.
    static func finding(_ reason: String?) -> Finding {
        guard let reason else {
            return Finding(
                "wire", .ok, "UDP port 5353 is shared: the links can be asked beside avahi-daemon and without it")
        }
        return Finding("wire", .warn, "services are found by avahi-daemon alone: \(reason)")
    }
}
#endif
