#if Commands
/// Whether there is an interface on which mDNS works.
enum InterfaceCheck {
    static func run() -> [Finding] {
        guard let interfaces = LocalInterface.all() else {
            return [Finding("interface", .fail, "the system does not list its interfaces")]
        }
        let others = interfaces.filter { !$0.isLoopback }
        var findings = others.map(finding)
        if !others.contains(where: \.isUsable) {
            findings.append(
                Finding(
                    "interface",
                    .fail,
                    "no interface can be used for mDNS: none is up with MULTICAST and an address",
                    advice: "Connect this machine to a network."
                )
            )
        }
        return findings
    }

    private static func finding(_ interface: LocalInterface) -> Finding {
        let name = interface.name
        guard interface.isUp else { return Finding("interface", .skip, "\(name) is down and not used") }
        guard interface.isMulticast else {
            return Finding(
                "interface",
                .warn,
                "\(name) has no MULTICAST: services there are not found",
                advice: "If it should be used: ip link set \(name) multicast on."
            )
        }
        guard interface.hasAddress else {
            return Finding("interface", .warn, "\(name) is up but has no address, and is not used")
        }
        let families = [interface.hasIPv4 ? "IPv4" : nil, interface.hasIPv6 ? "IPv6" : nil].compactMap { $0 }
        return Finding("interface", .ok, "\(name) can be used, with \(families.joined(separator: " and "))")
    }
}
#endif
