#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD

/// What an administrator gives a DNS server so that services can be published in a zone, as text. A value.
///
/// No key gets the zone: only the names of services below `_tcp` and `_udp`, the leases below `_discoverd`, and hosts in a sub-domain of
/// their own.
struct ZoneTemplate {
    enum Server: String, CaseIterable {
        case bind, knot, powerdns
    }

    let server: Server
    let domain: Domain
    /// The name of the key, within the domain where it has no dot.
    let key: String
    /// The name server's addresses, for the zone's NS: at least one where the zone's file is printed.
    let addresses: [IPAddress]

    /// The records that describe services.
    static let serviceTypes = ["PTR", "SRV", "TXT", "DHCID"]
    /// The records of leases.
    static let leaseTypes = ["TXT", "PTR", "DHCID"]
    /// The records of hosts.
    static let hostTypes = ["A", "AAAA", "DHCID"]
    /// The sub-domain of hosts.
    static let hosts = "hosts"

    /// The zone's name with its last dot.
    private var zone: String { "\(domain)." }

    private var steps: [String] {
        switch server {
        case .bind:
            [
                "1. tsig-keygen -a hmac-sha256 \(key) > /etc/bind/\(key).key; chown root:bind, chmod 640: BIND reads it below.",
                "2. Put the configuration into named.conf.local and the zone into /var/lib/bind/\(domain).zone, owned by bind.",
                "3. named-checkconf && rndc reconfig. From then on the file is the server's: rndc freeze before you edit it.",
            ]
        case .knot:
            [
                "1. keymgr -t \(key) hmac-sha256 prints the key: put its secret in the place of SECRET below.",
                "2. Merge the configuration into knot.conf, section by section, and put the zone into /var/lib/knot/\(domain).zone.",
                "3. knotc conf-check && knotc reload. Leave zonefile-load as it is: difference-no-serial loses all updates.",
                "4. Knot keeps names in lower case: Tony's Web is found as tony's web.",
            ]
        case .powerdns:
            [
                "1. Settings into pdns.conf, the script where they say; restart pdns; pdnsutil load-zone \(domain) ZONE-FILE.",
                "2. pdnsutil generate-tsig-key \(key) hmac-sha256",
                "3. pdnsutil set-meta \(domain) TSIG-ALLOW-DNSUPDATE \(key)",
                "4. The configuration's second half is the script that its first half names: without it the key could change all.",
                "   To what it leaves out, PowerDNS still answers NOERROR.",
            ]
        }
    }

    private var advice: [String] {
        [
            "A zone of its own, delegated from the one above, is best: nothing else can be changed with this key.",
            "On the hosts that publish: the key in /etc/discoverd/\(key).key, root:discoverd, mode 640, in this form:",
            "  key \"\(key)\" { algorithm hmac-sha256; secret \"…\"; };",
            "and in /etc/discoverd/discoverd.yaml:",
            "  domains:",
            "    - name: \(domain)",
            "      key: /etc/discoverd/\(key).key",
            "      host: NAME.\(Self.hosts)        (NAME: this machine's; hosts have a sub-domain, so that no key can change www)",
            "Then: discoverd doctor --domain \(domain)",
            "At most 90 services of one type fit into a domain; larger sites use sub-domains.",
        ]
    }

    /// The configuration alone.
    var configurationText: String { configuration.joined(separator: "\n") + "\n" }

    /// All of it: what to do, the configuration, and the zone's file.
    var text: String {
        let mark = server == .bind ? "//" : "#"
        let head = (["Services of \(domain), published by discoverd.", ""] + steps + [""] + advice)
            .map { $0.isEmpty ? mark : "\(mark) \($0)" }
        return (head + ["", "\(mark) ---- configuration"] + configuration + ["", "; ---- zone file"] + zoneLines)
            .joined(separator: "\n") + "\n"
    }

    /// The zone's file alone.
    var zoneText: String { zoneLines.joined(separator: "\n") + "\n" }

    private var zoneLines: [String] {
        let ns = addresses.map { "ns 3600 IN \($0.family == .ipv4 ? "A" : "AAAA") \($0)" }
        return [
            "$ORIGIN \(zone)", "$TTL 60",
            "; The last number is how long a \"no\" is remembered: how late a new service may be seen.",
            "@ IN SOA ns hostmaster 1 3600 600 86400 10",
            "@ 3600 IN NS ns",
        ] + ns + ["b._dns-sd._udp 3600 IN PTR @", "lb._dns-sd._udp 3600 IN PTR @", "r._dns-sd._udp 3600 IN PTR @"]
    }

    private var configuration: [String] {
        switch server {
        case .bind: bind
        case .knot: knot
        case .powerdns: powerDNS
        }
    }

    private var bind: [String] {
        let services = Self.serviceTypes.joined(separator: " ")
        return [
            "include \"/etc/bind/\(key).key\";",
            "zone \"\(domain)\" {",
            "    type primary;",
            "    file \"/var/lib/bind/\(domain).zone\";",
            "    update-policy {",
            "        grant \(key) subdomain _tcp.\(zone) \(services);",
            "        grant \(key) subdomain _udp.\(zone) \(services);",
            "        grant \(key) subdomain _discoverd.\(zone) \(Self.leaseTypes.joined(separator: " "));",
            "        grant \(key) subdomain \(Self.hosts).\(zone) \(Self.hostTypes.joined(separator: " "));",
            "        // A host with a key of its own, which is named as the host, needs no sub-domain.",
            "        grant *.\(zone) self . \(Self.hostTypes.joined(separator: " "));",
            "    };",
            "};",
        ]
    }

    private var knot: [String] {
        let types = Self.serviceTypes + Self.hostTypes.dropLast()
        let names = ["_tcp", "_udp", "_discoverd", Self.hosts]
        return [
            "key:", "  - id: \(key)", "    algorithm: hmac-sha256", "    secret: SECRET", "",
            // Knot wants one rule for all of a message.
            "acl:", "  - id: discoverd-\(domain)", "    key: \(key)", "    action: update",
            "    update-type: [\(types.joined(separator: ", "))]", "    update-owner: name",
            "    update-owner-match: sub-or-equal", "    update-owner-name: [\(names.joined(separator: ", "))]", "",
            "zone:", "  - domain: \(domain)", "    file: /var/lib/knot/\(domain).zone",
            "    acl: [discoverd-\(domain)]",
        ]
    }

    /// Where the script is.
    static let script = "/etc/powerdns/discoverd.lua"

    private var powerDNS: [String] {
        [
            "dnsupdate=yes", "allow-dnsupdate-from=10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fd00::/8",
            "lua-dnsupdate-policy-script=\(Self.script)", "", "-- ---- \(Self.script)",
            "local allowed = {",
            "    {\"._tcp.\(zone)\", {12, 33, 16, 49}}, {\"._udp.\(zone)\", {12, 33, 16, 49}},  -- PTR SRV TXT DHCID",
            "    {\"._discoverd.\(zone)\", {16, 12, 49}},  -- TXT PTR DHCID",
            "    {\".\(Self.hosts).\(zone)\", {1, 28, 49}},  -- A AAAA DHCID",
            "}", "function updatepolicy(input)",
            "    if input:getTsigName():toString():lower() ~= \"\(key.lowercased()).\" then return false end",
            "    local name = \".\" .. input:getQName():toString():lower()",
            "    for _, rule in ipairs(allowed) do",
            "        if name:sub(-#rule[1]) == rule[1]:lower() then",
            "            for _, kind in ipairs(rule[2]) do",
            "                if input:getQType() == kind then return true end",
            "            end", "        end", "    end", "    return false", "end",
        ]
    }
}

struct ZoneTemplateCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "zone",
        abstract: "Prints what a DNS server needs so that services can be published in a zone.",
        discussion: """
            It prints the server's configuration, the zone's file, and what to do with them. The key may change services, leases, and hosts in a \
            sub-domain of their own, and nothing else in the zone.

            Examples:
              discoverd setup zone bind --domain home.example.org --address 10.0.0.53
              discoverd setup zone knot configuration --domain home.example.org
            """
    )

    @Argument(help: "The server: bind, knot or powerdns.")
    var server: ZoneTemplate.Server

    @Argument(help: "Only one part: configuration or zone.")
    var part: Part?

    @Option(name: .long, help: "The zone.", transform: Parsing.domain)
    var domain: Domain

    @Option(name: .long, help: ArgumentHelp("The key's name; default: discoverd.DOMAIN.", valueName: "name"))
    var key: String?

    @Option(
        name: .long,
        help: ArgumentHelp("An address of the name server. Repeatable.", valueName: "ip"),
        transform: Parsing.address)
    var address: [IPAddress] = []

    @Option(name: .long, help: .hidden, transform: Parsing.address)
    var serverAddress: [IPAddress] = []

    @Option(name: .customLong("only"), help: .hidden)
    var onlyPart: Part?

    private var only: Part? { part ?? onlyPart }
    private var addresses: [IPAddress] { address + serverAddress }

    enum Part: String, CaseIterable, ExpressibleByArgument { case configuration, zone }

    func validate() throws {
        if domain.isWithin(.local) { throw ValidationError("The link's domain has no zone: name another.") }
        guard Self.isPlain(domain.text), isKeyPlain else {
            throw ValidationError("The zone and its key have letters, digits, hyphens, underscores and dots.")
        }
        try checkAddress()
    }

    private func checkAddress() throws {
        if addresses.isEmpty, only != .configuration {
            throw ValidationError(
                "Missing --address, as --address 10.0.0.53: the zone's file says where its server is, and none loads without "
                    + "that. 'configuration' behind the server prints that part alone.")
        }
    }

    static var onlyPrints: Bool { true }

    func run(with more: (any MoreSupport)?) throws {
        let template = ZoneTemplate(
            server: server, domain: domain, key: key ?? "discoverd.\(domain)", addresses: addresses)
        let text =
            switch only {
            case .configuration: template.configurationText
            case .zone: template.zoneText
            case nil: template.text
            }
        try Output.write(text.utf8)
    }

    private var isKeyPlain: Bool { key.map { Self.isPlain($0) && (try? Domain($0)) != nil } ?? true }

    /// What needs no quoting in any of the servers' files.
    private static func isPlain(_ name: String) -> Bool {
        name.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_.".utf8.contains($0) }
    }
}

extension ZoneTemplate.Server: ExpressibleByArgument {}
#endif
