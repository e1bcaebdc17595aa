#if Commands
internal import CommandText
internal import DiscoverySystem
internal import Libc

/// What avahi-daemon's configuration disables (avahi-daemon.conf(5)).
enum AvahiConfigurationCheck {
    static let path = "/etc/avahi/avahi-daemon.conf"

    static func run() -> [DoctorFinding] {
        guard unsafe access(path, F_OK) == 0 else { return [] }
        guard let lines = SystemFile.lines(of: path) else {
            return [DoctorFinding("config", .warn, "\(path) cannot be read: avahi-daemon's limits are not known")]
        }
        let settings = parse(lines)
        let findings =
            interfaces(settings) + families(settings) + sharing(settings) + publishing(settings) + limits(settings)
        return findings.contains { $0.verdict != .ok }
            ? findings : [DoctorFinding("config", .ok, "\(path) forbids nothing that is needed")] + findings
    }

    /// Keys and their values; the last of a repeated key counts.
    static func parse(_ lines: [String]) -> [String: String] {
        let isBlank = { (character: Character) in [" ", "\t", "\r"].contains(character) }
        var settings: [String: String] = [:]
        for line in lines {
            let text = line.trimmed(of: isBlank)
            guard !text.hasPrefix("#"), !text.hasPrefix(";"), let sign = text.firstIndex(of: "=") else { continue }
            settings[text[..<sign].trimmed(of: isBlank)] = text[text.index(after: sign)...].trimmed(of: isBlank)
        }
        return settings
    }

    private static func interfaces(_ settings: [String: String]) -> [DoctorFinding] {
        ["allow-interfaces", "deny-interfaces"].compactMap { key in
            guard let value = settings[key], !value.isEmpty else { return nil }
            return DoctorFinding(
                "config", .warn,
                "\(key)=\(value): \(key.hasPrefix("a") ? "no other interface is used" : "these interfaces are not used")",
                advice: "If that is not wanted, change \(path) and restart avahi-daemon.")
        }
    }

    private static func families(_ settings: [String: String]) -> [DoctorFinding] {
        ["use-ipv4", "use-ipv6"].compactMap { key in
            guard settings[key] == "no" else { return nil }
            return DoctorFinding("config", .warn, "\(key)=no: nothing is found or published over it")
        }
    }

    static func sharing(_ settings: [String: String]) -> [DoctorFinding] {
        guard let value = settings["disallow-other-stacks"], "yt1".contains(value.lowercased().prefix(1)),
            !value.isEmpty
        else { return [] }
        return [
            DoctorFinding(
                "config", .warn,
                "disallow-other-stacks=\(value): avahi-daemon holds UDP port 5353 alone, and services are found by it alone",
                advice: "If that is not wanted, set it to no in \(path) and restart avahi-daemon.")
        ]
    }

    private static func publishing(_ settings: [String: String]) -> [DoctorFinding] {
        ["disable-publishing", "disable-user-service-publishing"].compactMap { key in
            guard settings[key] == "yes" else { return nil }
            return DoctorFinding(
                "config", .fail, "\(key)=yes: 'discoverd publish' cannot work",
                advice: "Set \(key)=no in \(path) and restart avahi-daemon.")
        }
    }

    private static func limits(_ settings: [String: String]) -> [DoctorFinding] {
        [("cache-entries-max", 4096), ("objects-per-client-max", 1024), ("clients-max", 4096)].map { key, usual in
            let value = settings[key].flatMap { Int($0) }
            return DoctorFinding(
                "config", (value ?? usual) < usual ? .warn : .ok,
                "\(key) is \(value.map(String.init) ?? "\(usual), the default")"
                    + ((value ?? usual) < usual ? ": large networks may not be shown whole" : ""))
        }
    }
}
#endif
