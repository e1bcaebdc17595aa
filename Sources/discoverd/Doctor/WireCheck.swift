#if Commands
internal import DNSSD
internal import HostEngine

/// Whether services can be found by asking the links directly (`--finder wire`).
enum WireCheck {
    static func run() -> Finding { finding(HostEngine.reasonWithoutWire()) }

    /// - Parameter reason: why they cannot; nil if they can.
    static func finding(_ reason: String?) -> Finding {
        guard let reason else {
            return Finding(
                "wire", .ok, "UDP port 5353 is shared: --finder wire works, beside avahi-daemon and without it")
        }
        return Finding("wire", .warn, "--finder wire does not work: \(reason)")
    }
}
#endif
