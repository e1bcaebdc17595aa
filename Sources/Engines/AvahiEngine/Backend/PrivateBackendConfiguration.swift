import DNSSD

/// The configuration files of a private dbus-daemon and avahi-daemon. A value: text only.
struct PrivateBackendConfiguration {
    /// Records that avahi-daemon caches per interface and family: 4096 services of four records, doubled.
    static let cacheEntries = 32_768
    /// Browsers, resolvers and entry groups per client (Avahi's default is 1024).
    static let objectsPerClient = 16_384

    /// The path of the bus's socket.
    var socket: String
    /// The machine's name, with or without its domain.
    var hostName: String
    /// The interfaces to use.
    var interfaces: InterfaceFilter
    /// The names of the existing interfaces.
    var present: [String]
    /// The user that runs the daemons.
    var user: UInt32
    var group: UInt32
    /// The user that connects to them.
    var owner: UInt32

    /// dbus-daemon(1). No `<type>`: a system bus insists on raising its limit of open files. Without a rule for users, only the user who
    /// runs the bus may connect; root runs it as another user.
    var dbus: String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <listen>\(address)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">\(owner == user ? "" : "\n    <allow user=\"root\"/>")
            <allow own="org.freedesktop.Avahi"/>
            <allow send_destination="*"/>
            <allow receive_sender="*"/>
          </policy>
          <limit name="max_replies_per_connection">4096</limit>
          <limit name="max_match_rules_per_connection">4096</limit>
        </busconfig>

        """
    }

    /// avahi-daemon.conf(5) of 0.8. Raises `ratelimit-burst`, because avahi-daemon silently drops what exceeds it.
    var avahi: String {
        var server = ["use-ipv4=yes", "use-ipv6=yes", "enable-dbus=yes", "disallow-other-stacks=no"]
        if let label = hostLabel { server.insert("host-name=\(label)", at: 0) }
        server.append("deny-interfaces=\(denied.joined(separator: ","))")
        if let allowed { server.append("allow-interfaces=\(allowed.joined(separator: ","))") }
        server += [
            "cache-entries-max=\(Self.cacheEntries)",
            "objects-per-client-max=\(Self.objectsPerClient)",
            "entries-per-entry-group-max=1024",
            "clients-max=4096",
            "ratelimit-interval-usec=1000000",
            "ratelimit-burst=10000",
        ]
        return """
            [server]
            \(server.joined(separator: "\n"))

            [wide-area]
            enable-wide-area=no

            [publish]
            publish-hinfo=no
            publish-workstation=no

            [reflector]
            enable-reflector=no

            """
    }

    /// The passwd file for avahi-daemon, which gives its directory to user `avahi`: that is whoever runs it.
    var passwd: String {
        (user == 0 ? "" : "root:x:0:0::/:/usr/sbin/nologin\n") + "avahi:x:\(user):\(group)::/:/usr/sbin/nologin\n"
            + (user == 0 ? "root:x:0:0::/:/usr/sbin/nologin\n" : "")
    }

    var groups: String { (group == 0 ? "" : "root:x:0:\n") + "avahi:x:\(group):\n" + (group == 0 ? "root:x:0:\n" : "") }

    /// The bus's address in D-Bus syntax (specification, "Server Addresses"): bytes outside the listed set become `%XX`.
    var address: String { Self.address(ofSocket: socket) }

    static func address(ofSocket path: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var escaped: [UInt8] = []
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"),
                UInt8(ascii: "."):
                escaped.append(byte)
            default: escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return "unix:path=" + String(decoding: escaped, as: UTF8.self)
    }

    /// The first label of the machine's name if it is valid in a host name (RFC 952, RFC 1123 §2.1); otherwise Avahi chooses a name.
    var hostLabel: String? {
        let label = hostName.prefix { $0 != "." }
        let isPlain = label.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isPlain, (1...63).contains(label.utf8.count), !label.hasPrefix("-"), !label.hasSuffix("-"),
            label != "localhost"
        else { return nil }
        return String(label)
    }

    /// The allowed interfaces if the filter includes some; nil to allow all but the denied, including later ones.
    private var allowed: [String]? {
        guard interfaces.patterns.contains(where: { !$0.hasPrefix("!") }) else { return nil }
        let names = usable.filter { interfaces.allows($0) }
        // An empty list would mean all (avahi-daemon.conf(5)); no interface has this name.
        return names.isEmpty ? ["none-"] : names
    }

    private var denied: [String] { ["lo"] + usable.filter { !interfaces.allows($0) } }

    /// The names that would not end the list or the line.
    private var usable: [String] {
        present.filter { name in name != "lo" && !name.utf8.contains { $0 <= 0x20 || $0 == UInt8(ascii: ",") } }
            .sorted()
    }
}
