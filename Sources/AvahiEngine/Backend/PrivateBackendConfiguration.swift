import DNSSD

/// The files that a private dbus-daemon and avahi-daemon are started with. A value: text only.
struct PrivateBackendConfiguration {
    /// Records that avahi-daemon keeps for each interface and family: 4096 services of four records, twice.
    static let cacheEntries = 32_768
    /// Browsers, resolvers and entry groups for each client (avahi's default: 1024).
    static let objectsPerClient = 16_384

    /// The bus's socket.
    var socket: String
    /// The machine's name, in full or not.
    var hostName: String
    /// Which interfaces to use.
    var interfaces: InterfaceFilter
    /// The names of those that are there.
    var present: [String]
    /// As whom the daemons run.
    var user: UInt32
    var group: UInt32
    /// Who uses them.
    var owner: UInt32

    /// dbus-daemon(1). Without `<type>`: as a system bus it insists on raising its limit of open files. Without a rule
    /// for users only the user who runs it may connect; root starts it as another.
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

    /// avahi-daemon.conf(5) of 0.8. What avahi sends beyond `ratelimit-burst` a second it drops without a word, so that
    /// is raised.
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

    /// For avahi-daemon, which gives its directory to user `avahi`: that is whoever runs it.
    var passwd: String {
        (user == 0 ? "" : "root:x:0:0::/:/usr/sbin/nologin\n") + "avahi:x:\(user):\(group)::/:/usr/sbin/nologin\n"
            + (user == 0 ? "root:x:0:0::/:/usr/sbin/nologin\n" : "")
    }

    var groups: String { (group == 0 ? "" : "root:x:0:\n") + "avahi:x:\(group):\n" + (group == 0 ? "root:x:0:\n" : "") }

    /// The bus's address in D-Bus's form ("Server Addresses" of the specification): bytes outside the listed ones are
    /// `%XX`.
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

    /// The first label of the machine's name if it may stand in a host name (RFC 952, RFC 1123 §2.1); else avahi
    /// chooses one.
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

    /// The list that is allowed, when the filter takes some; nil: all but the denied, those that come later too.
    private var allowed: [String]? {
        guard interfaces.patterns.contains(where: { !$0.hasPrefix("!") }) else { return nil }
        let names = usable.filter { interfaces.allows($0) }
        // An empty list would mean all (avahi-daemon.conf(5)); there is no interface of this name.
        return names.isEmpty ? ["none-"] : names
    }

    private var denied: [String] { ["lo"] + usable.filter { !interfaces.allows($0) } }

    /// Without names that would end the list or the line.
    private var usable: [String] {
        present.filter { name in name != "lo" && !name.utf8.contains { $0 <= 0x20 || $0 == UInt8(ascii: ",") } }
            .sorted()
    }
}
