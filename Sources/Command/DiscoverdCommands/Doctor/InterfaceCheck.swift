#if Commands
internal import DNSSD
internal import DiscoverySystem
internal import HostEngine
internal import Libc
internal import MulticastEngine

/// Whether there is an interface on which mDNS works.
enum InterfaceCheck {
    static func run() -> [DoctorFinding] {
        guard let interfaces = LocalInterface.all() else {
            return [DoctorFinding("interface", .fail, "the system does not list its interfaces")]
        }
        let others = interfaces.filter { !$0.isLoopback }
        var findings = others.map(finding)
        if !others.contains(where: \.isUsable) {
            findings.append(
                DoctorFinding(
                    "interface", .fail, "no interface can be used for mDNS: none is up with MULTICAST and an address",
                    advice: "Connect this machine to a network."))
        }
        return findings
    }

    private static func finding(_ interface: LocalInterface) -> DoctorFinding {
        let name = interface.name
        guard interface.isUp else { return DoctorFinding("interface", .skip, "\(name) is down and not used") }
        guard interface.isMulticast else {
            return DoctorFinding(
                "interface", .warn, "\(name) has no MULTICAST: services there are not found",
                advice: "If it should be used: ip link set \(name) multicast on.")
        }
        guard interface.hasAddress else {
            return DoctorFinding("interface", .warn, "\(name) is up but has no address, and is not used")
        }
        let families = [interface.hasIPv4 ? "IPv4" : nil, interface.hasIPv6 ? "IPv6" : nil].compactMap { $0 }
        return DoctorFinding("interface", .ok, "\(name) can be used, with \(families.joined(separator: " and "))")
    }
}

/// Whether IPv6 is switched off.
enum IPv6Check {
    static func run() -> DoctorFinding {
        switch SystemFile.lines(of: "/proc/sys/net/ipv6/conf/all/disable_ipv6")?.first {
        case "0": DoctorFinding("ipv6", .ok, "IPv6 is on")
        case nil: DoctorFinding("ipv6", .warn, "this kernel has no IPv6: only IPv4 addresses are found")
        default:
            DoctorFinding(
                "ipv6", .warn, "IPv6 is switched off: only IPv4 addresses are found",
                advice: "If it is wanted: sysctl net.ipv6.conf.all.disable_ipv6=0.")
        }
    }
}

/// Whether the links themselves can be asked for services.
enum WireCheck {
    static func run() -> DoctorFinding {
        finding(HostEngine.reasonWithoutWire(), holders: PortHolder.holders(of: PortHolder.multicastDNS))
    }

    /// - Parameters:
    ///   - reason: why they cannot; nil if they can.
    ///   - holders: the processes that have the port.
    static func finding(_ reason: String?, holders: [PortHolder]) -> DoctorFinding {
        guard let reason else {
            return DoctorFinding(
                "wire", .ok, "UDP port 5353 is shared: the links can be asked beside avahi-daemon and without it")
        }
        let text = "services are found by avahi-daemon alone: \(reason)"
        guard let holder = holders.first, holders.count == 1 else { return DoctorFinding("wire", .warn, text) }
        return DoctorFinding(
            "wire", .warn, "\(text); \(holder) holds the port alone",
            advice: holder.name == "avahi-daemon"
                ? "It shares the port when it is started with disallow-other-stacks=no in \(ResponderSettings.path)."
                : nil)
    }
}

/// A network interface as the system describes it.
struct LocalInterface {
    let name: String
    var flags: UInt32
    var hasIPv4 = false
    var hasIPv6 = false

    var isUp: Bool { flags & UInt32(IFF_UP) != 0 }
    var isLoopback: Bool { flags & UInt32(IFF_LOOPBACK) != 0 }
    var isMulticast: Bool { flags & UInt32(IFF_MULTICAST) != 0 }
    var hasAddress: Bool { hasIPv4 || hasIPv6 }
    /// mDNS works on this interface.
    var isUsable: Bool { isUp && isMulticast && hasAddress && !isLoopback }

    /// All of this machine's interfaces, in the system's order; nil if the system does not report them.
    static func all() -> [LocalInterface]? {
        guard let all = InterfaceAddress.all() else { return nil }
        var interfaces: [LocalInterface] = []
        for item in all {
            let position = interfaces.firstIndex { $0.name == item.interface.name } ?? interfaces.endIndex
            if position == interfaces.endIndex {
                interfaces.append(LocalInterface(name: item.interface.name, flags: UInt32(bitPattern: item.flags)))
            }
            switch item.address?.family {
            case .ipv4: interfaces[position].hasIPv4 = true
            case .ipv6: interfaces[position].hasIPv6 = true
            case nil: break
            }
        }
        return interfaces
    }
}
#endif
