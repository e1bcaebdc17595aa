#if Commands
internal import Libc
internal import MulticastEngine

/// What avahi-daemon's configuration disables (avahi-daemon.conf(5)).
enum AvahiConfigurationCheck {
    private static var path: String { ResponderSettings.path }

    static func run() -> [DoctorFinding] {
        guard unsafe access(path, F_OK) == 0 else { return [] }
        guard let settings = ResponderSettings.read else {
            return [DoctorFinding("config", .warn, "\(path) cannot be read: avahi-daemon's limits are not known")]
        }
        return findings(settings)
    }

    static func findings(_ settings: ResponderSettings) -> [DoctorFinding] {
        let findings =
            interfaces(settings) + families(settings) + sharing(settings) + publishing(settings) + limits(settings)
        return findings.contains { $0.verdict != .ok }
            ? findings : [DoctorFinding("config", .ok, "\(path) forbids nothing that is needed")] + findings
    }

    private static func interfaces(_ settings: ResponderSettings) -> [DoctorFinding] {
        ["allow-interfaces", "deny-interfaces"].compactMap { key in
            guard let value = settings[key], !value.isEmpty else { return nil }
            return DoctorFinding(
                "config", .warn,
                "\(key)=\(value): \(key.hasPrefix("a") ? "no other interface is used" : "these interfaces are not used")",
                advice: "If that is not wanted, change \(path) and restart avahi-daemon.")
        }
    }

    private static func families(_ settings: ResponderSettings) -> [DoctorFinding] {
        ["use-ipv4", "use-ipv6"].compactMap { key in
            guard let value = settings[key], settings.isOn(key) == false else { return nil }
            return DoctorFinding("config", .warn, "\(key)=\(value): nothing is found or published over it")
        }
    }

    private static func sharing(_ settings: ResponderSettings) -> [DoctorFinding] {
        guard let value = settings["disallow-other-stacks"], settings.disallowsOthers else { return [] }
        return [
            DoctorFinding(
                "config", .warn,
                "disallow-other-stacks=\(value): avahi-daemon holds UDP port 5353 alone, and services are found by it alone",
                advice: "If that is not wanted, set it to no in \(path) and restart avahi-daemon.")
        ]
    }

    private static func publishing(_ settings: ResponderSettings) -> [DoctorFinding] {
        ["disable-publishing", "disable-user-service-publishing"].compactMap { key in
            guard let value = settings[key], settings.isOn(key) == true else { return nil }
            return DoctorFinding(
                "config", .fail, "\(key)=\(value): 'discoverd publish' cannot work",
                advice: "Set \(key)=no in \(path) and restart avahi-daemon.")
        }
    }

    private static func limits(_ settings: ResponderSettings) -> [DoctorFinding] {
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
