#if Commands
internal import DiscoverySystem

/// Which names below `local` programs of this machine resolve with getaddrinfo(3): what nsswitch.conf(5) and nss-mdns' mdns.allow say.
enum HostsLookupCheck {
    private static let advice =
        "For names as wiki.h1.local put mdns4 in the place of mdns4_minimal in /etc/nsswitch.conf, and '.local' into /etc/mdns.allow."

    static func run() -> [DoctorFinding] {
        [of(nsswitch: SystemFile.lines(of: "/etc/nsswitch.conf"), allowed: SystemFile.lines(of: "/etc/mdns.allow"))]
    }

    /// What of nss-mdns is configured.
    static func modules(_ nsswitch: [String]?) -> [Substring] {
        let hosts = (nsswitch ?? []).last { $0.hasPrefix("hosts:") } ?? ""
        return hosts.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("mdns") }
    }

    static func of(nsswitch: [String]?, allowed: [String]?) -> DoctorFinding {
        let modules = modules(nsswitch)
        guard !modules.isEmpty else {
            return DoctorFinding(
                "nss", .skip,
                "hosts: in /etc/nsswitch.conf has no mdns4: other programs may not resolve names below local")
        }
        let lines = Set((allowed ?? []).map { $0.prefix { $0 != "#" }.filter { !$0.isWhitespace } })
        let isWhole = modules.contains { !$0.hasSuffix("_minimal") }
        let text = "programs resolve names below local by nss-mdns"
        if isWhole, !lines.isDisjoint(with: [".local", ".local.", "*"]) {
            return DoctorFinding("nss", .ok, "\(text), at any depth")
        }
        return DoctorFinding(
            "nss", .ok, "\(text), of two labels alone: wiki.local, and not wiki.h1.local", advice: advice)
    }
}
#endif
