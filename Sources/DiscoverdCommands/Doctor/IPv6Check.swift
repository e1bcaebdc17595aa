#if Commands
internal import DiscoverySystem

/// Whether IPv6 is switched off.
enum IPv6Check {
    static func run() -> Finding {
        switch SystemFile.lines(of: "/proc/sys/net/ipv6/conf/all/disable_ipv6")?.first {
        case "0": Finding("ipv6", .ok, "IPv6 is on")
        case nil: Finding("ipv6", .warn, "this kernel has no IPv6: only IPv4 addresses are found")
        default:
            Finding(
                "ipv6",
                .warn,
                "IPv6 is switched off: only IPv4 addresses are found",
                advice: "If it is wanted: sysctl net.ipv6.conf.all.disable_ipv6=0."
            )
        }
    }
}
#endif
