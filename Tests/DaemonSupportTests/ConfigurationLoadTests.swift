import DNSSD
import DiscoveryControl
import DiscoverySystem
import Foundation
import Testing

@testable import DiscoveryDaemon
@testable import UnicastEngine

@Suite struct ConfigurationLoadTests {
    static let service = "name: a\ntype: _http._tcp\nport: 80\n"

    @Test func nothingThereIsTheDefault() throws {
        let configuration = try DaemonConfiguration.load(directory: "/nonexistent/discoverd")
        var expected = DaemonConfiguration()
        expected.access.ownUserID = getuid()
        expected.access.groupID = Accounts.groupID(named: "discoverd")
        #expect(configuration == expected)
    }

    @Test func aDirectoryThatIsNamedIsToBeThere() throws {
        let missing = "/nonexistent/discoverd"
        #expect(try ConfigurationPlace(directory: missing, mustExist: false).load().services.isEmpty)
        let error = #expect(throws: ConfigurationError.self) {
            try ConfigurationPlace(directory: missing, mustExist: true).load()
        }
        #expect(error?.description.contains(missing) == true)
    }

    @Test(arguments: [
        "", "# nothing\n", "---\n", "~", "services:\n", "services: []\n",
        "browse:\naccess:\nlimits:\n"
            .replacingOccurrences(of: "access:\nlimits:\n", with: ""),
    ])
    func anEmptyFileIsTheDefault(_ text: String) throws {
        #expect(try ConfigurationDirectory(["discoverd.yaml": text]).load().services.isEmpty)
    }

    @Test("drop-ins of packages are hidden by those of programs that run, and those by the administrator's")
    func dropInsOfPackages() throws {
        let file = { (name: String, port: Int) in "{name: \(name), type: _http._tcp, port: \(port)}" }
        let packages = try ConfigurationDirectory([
            "services.d/a.yaml": file("a", 1), "services.d/b.yaml": file("b", 1), "services.d/c.yaml": file("c", 1),
            "services.d/.hidden.yaml": "no", "services.d/d.yaml": file("d", 1),
        ])
        let running = try ConfigurationDirectory(["services.d/b.yaml": file("b", 2), "services.d/c.yaml": file("c", 2)])
        let own = try ConfigurationDirectory(["services.d/c.yaml": file("c", 3)])
        try FileManager.default.createSymbolicLink(
            atPath: own.path + "/services.d/d.yaml", withDestinationPath: "/dev/null")
        let services = try own.load(running, packages).services.map(\.service)
        #expect(services.map(\.name.text) == ["c", "a", "b"] && services.map(\.port.rawValue) == [3, 1, 2])
        // What is wrong in one of them, or is there already, leaves it out, and nothing else.
        try running.write("services.d/z.yaml", Array("services: [\(file("z", 9)), \(file("a", 9))]".utf8))
        try packages.write("services.d/y.yaml", Array("{name: y, type: _http._tcp, prot: 1}".utf8))
        try own.write("services.d/own.yaml", Array(file("b", 7).utf8))
        let mixed = try own.load(running, packages)
        #expect(mixed.services.map(\.service.name.text) == ["c", "b", "a"])
        #expect(mixed.services.map(\.service.port.rawValue) == [3, 7, 1])
        let reasons = mixed.leftOut.map(\.description)
        #expect(reasons.count == 3 && reasons[0].contains("b.yaml") && reasons[1].contains("y.yaml"), "\(reasons)")
        #expect(reasons[1].contains("prot") && reasons[2].contains("z.yaml") && reasons[2].contains("there already"))
    }

    @Test(
        "files that end with .yml are read as those that end with .yaml; both of one name are an error that names both")
    func otherEnding() throws {
        let file = { (name: String, port: Int) in "{name: \(name), type: _http._tcp, port: \(port)}" }
        let packages = try ConfigurationDirectory([
            "services.d/a.yaml": file("a", 1), "services.d/b.yml": file("b", 1),
            "services.d/both.yml": file("c", 1), "services.d/both.yaml": file("c", 2),
        ])
        let own = try ConfigurationDirectory([
            "discoverd.yml": "services: [\(file("main", 1))]", "services.d/a.yml": file("a", 2),
        ])
        let place = ConfigurationPlace(directory: own.path, mustExist: true)
        let stamp = ConfigurationStamp(place)
        let configuration = try own.load(packages)
        #expect(configuration.services.map(\.service.name.text) == ["main", "a", "b"])
        #expect(configuration.services.map(\.service.port.rawValue) == [1, 2, 1])
        #expect(configuration.leftOut.count == 1, "\(configuration.leftOut)")
        #expect(configuration.leftOut.first?.description.contains("both.yml is there, too") == true)
        try own.write("services.d/a.yaml", Array(file("a", 3).utf8))
        try own.write("discoverd.yaml", Array("services: []".utf8))
        #expect(ConfigurationStamp(place) != stamp)
        let fault = try #require(own.fault()).split(separator: "\n")
        #expect(
            fault.count == 2 && fault[0].hasPrefix("discoverd.yaml: ")
                && fault[0].contains("discoverd.yml is there, too"))
        #expect(
            fault.last?.hasPrefix("services.d/a.yaml: ") == true && fault.last?.contains("a.yml is there, too") == true)
    }

    @Test("what is valid and hardly meant is told")
    func doubts() throws {
        let text = """
            access: {group: nosuchgroup}
            browse: [all, http]
            services:
              - {name: a, type: _http._tcp, port: 80, check: {what: tcp, interval: 1s, timeout: 10s}}
              - {name: b, type: _http._tcp, port: 80, check: {what: tcp, interval: 1s}}
            """
        let doubts = try ConfigurationDirectory(["discoverd.yaml": text]).load().doubts
        #expect(doubts.count == 3, "\(doubts)")
        for (line, part) in [(1, "no group nosuchgroup"), (2, "_all._tcp, and not every type"), (4, "timeout")] {
            #expect(doubts.contains { $0.contains("discoverd.yaml:\(line): ") && $0.contains(part) }, "\(doubts)")
        }
    }

    @Test(
        "what is to be quoted, or not, is told",
        arguments: [
            ("port: \"80\"", "without quotation marks"), ("name: %h web", "quote a text that begins with %"),
            ("interfaces: [!docker*]", "quote a text that begins with !"),
            ("interfaces:\n- !docker0", "quote a text that begins with !"),
            ("interfaces: [*docker*]", "quote a text that begins with"),
            ("name: @home", "quote a text that begins with @"),
        ])
    func quoting(_ text: String, _ hint: String) throws {
        let fault = try ConfigurationDirectory(["services.d/a.yaml": text]).fault()
        #expect(fault?.contains(hint) == true, "\(fault ?? "nothing")")
    }

    @Test("a rule for an account that is not there is told, and is no error: it may come")
    func unknownAccounts() throws {
        let rules = ["user: root", "user: nobody-has-it", "user: '4711'", "group: none-has-it"]
        let text = "access: {allow: [\(rules.map { "{\($0), types: '*'}" }.joined(separator: ", "))]}"
        let doubts = try ConfigurationDirectory(["discoverd.yaml": text]).load().doubts
        #expect(doubts.count == 2 && doubts[0].contains("no user nobody-has-it"), "\(doubts)")
        #expect(doubts.last?.contains("no group none-has-it") == true, "\(doubts)")
    }

    @Test func theExampleHasEveryKeyAndIsRead() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/discoverd.yaml.example")
        let text = try String(contentsOf: file, encoding: .utf8)
        let configuration = try ConfigurationDirectory(["discoverd.yaml": text]).load()
        #expect(configuration.avahi == .auto && configuration.logLevel == .info)
        #expect(configuration.reload == .auto)
        #expect(configuration.browse.map(\.description) == ["_witap._tcp", "_http._tcp"])
        #expect(configuration.limits == ConnectionTable.Limits())
        #expect(configuration.tcpListen?.address.description == "127.0.0.1")
        #expect(configuration.tcpListen?.port.rawValue == 9331)
        #expect(configuration.tcpListen?.hosts == ["monitor.example.org"])
        #expect(configuration.dns.map(\.description) == ["127.0.0.55:53", "172.17.0.1:53", "[::1]:5300"])
        #expect(configuration.access.groupID == 900 && configuration.access.attached == .anyone)
        #expect(
            configuration.access.rules.map(\.subject)
                == ["alice", "www-data", "alice", "alice"].map {
                    $0 == "www-data" ? .group($0, id: 33) : .user($0)
                })
        #expect(configuration.access.rules[2].domains == [try Domain("home.example.org")])
        #expect(configuration.access.rules[3].hosts == [try HostName("printer.local")])
        #expect(configuration.domains.map(\.settings.host) == ["web1.hosts"])
        let export = try #require(configuration.exports.first)
        #expect(export.domain.text == "link1.home.example.org" && export.types.count == 2)
        #expect(export.interfaces.allows("eth0") && !export.names.allows(ServiceName(observed: "private 1")))
        let mirror = try #require(configuration.mirrors.first)
        let links = MirrorLinks(interfaces: try InterfaceFilter(["home"]), label: "iot")
        #expect(mirror.destination == .links(links) && mirror.interfaces.patterns == ["iot"])
        #expect(mirror.domain == .local && mirror.types.count == 1 && mirror.subtypes.count == 1)
        #expect(!mirror.names.allows(ServiceName(observed: "private 1")))
        let site = MirrorPeer(name: "site-a", host: "10.8.0.1", port: try Port(5354))
        #expect(configuration.mirrors.last?.source == .peer(site) && configuration.peers.keys.sorted() == ["site-a"])
        #expect(configuration.mirrorListen?.interfaces.patterns == ["home"])
        #expect(configuration.labels == [.podman])
        let labels = configuration.access.labels
        #expect(labels.types == [try ServiceType("_http._tcp")] && labels.number == 64)
        #expect(labels.names?.allows(ServiceName(observed: "Shop 1")) == true)
        #expect(labels.aliases == [try HostName("wiki.local"), try HostName("shop.wiki.local")])
        let aliases = configuration.services.filter(\.service.isAlias).map(\.service.name.text)
        #expect(aliases == ["wiki.local", "shop.wiki.local", "wiki.h1.local", "docs.example.org", "backup.local"])
        let services = configuration.services.filter { !$0.service.isAlias }
        let web = try #require(services.first)
        #expect(web.service.name.text == "Web on h1")
        #expect(web.service.txt.entries.last?.value == [0xFF, 0x00] && web.service.txt.contains("secure"))
        #expect(web.service.subtypes == ["_printer"] && web.service.family == .ipv4)
        #expect(web.check == RegistrationRequest.Check(try CheckSpecification("http:/health")))
        #expect(
            try services[1].check.map { try CheckSpecification($0).kind }
                == .exec(command: ["/usr/bin/test", "-e", "/run/my game.ready"]))
        let printer = try OfferedHost(name: HostName("printer.local"), addresses: [try #require(IPAddress("10.0.0.9"))])
        #expect(services[2].service.host == printer)
        #expect(services[4].service.host?.isAlias == true)
        let scanner = services[3].service
        #expect(scanner.isAddressRecord && scanner.host?.name.text == "scanner.local")
    }

    @Test func everythingThatIsWrongIsToldAtOnce() throws {
        let main = """
            colour: red
            browse: [_http._tcp, _x._tcp, "_a--b._tcp"]
            listen: nowhere
            limits: {clients: 0, services-per-user: -1}
            services:
              - {name: a, type: _http._tcp, prot: 80}
              - {name: "", type: "witap!._tcp", port: 0, txt: {"": x, k: y}}
            """
        let files: KeyValuePairs = [
            "discoverd.yaml": main, "services.d/b.yaml": Self.service + "port: 81\n",
            "services.d/c.yaml": "name: c\ntype: _http._tcp\nport: 80\nfamily: ipx\n",
        ]
        let error = #expect(throws: ConfigurationError.self) { try ConfigurationDirectory(files).load() }
        let lines = (error?.lines ?? []).map { $0.split(separator: "/").last.map(String.init) ?? "" }
        let expected = [
            ("discoverd.yaml:1", "colour"), ("discoverd.yaml:2", "_x"), ("discoverd.yaml:2", "hyphens"),
            ("discoverd.yaml:3", "nowhere"), ("discoverd.yaml:4", "clients"), ("discoverd.yaml:4", "services-per-user"),
            ("discoverd.yaml:6", "prot"), ("discoverd.yaml:6", "has no port"), ("discoverd.yaml:7", "name"),
            ("discoverd.yaml:7", "underscore"), ("discoverd.yaml:7", "port"), ("discoverd.yaml:7", "TXT key"),
            ("b.yaml", "there twice"), ("c.yaml:4", "ipv4, ipv6"),
        ]
        for (place, word) in expected {
            #expect(lines.contains { $0.hasPrefix(place) && $0.contains(word) }, "\(place) \(word): \(lines)")
        }
        #expect(lines.count == expected.count, "\(lines)")
        #expect(error?.summary.hasSuffix("(and \(expected.count - 1) more)") == true)
    }

    @Test func aConfigurationFullOfErrorsIsToldInAHundredLines() throws {
        let text = "services:\n" + String(repeating: "  - {name: a}\n", count: 1000)
        let error = #expect(throws: ConfigurationError.self) {
            try ConfigurationDirectory(["discoverd.yaml": text]).load()
        }
        #expect(error?.lines.count == 100)
    }

    /// Configurations from before the key existed keep their meaning.
    @Test(arguments: [
        ("", AccessRules.Attached.anyone), ("access: {attached: anyone}", .anyone),
        ("access: {attached: rules}", .rules),
        ("access: {group: web}", .rules), ("access: {allow: []}", .rules),
        ("access: {allow: [{user: alice, types: \"*\"}]}", .rules),
        ("access: {group: web, attached: anyone}", .anyone), ("access: {allow: [], attached: anyone}", .anyone),
        ("access: {attached: rules, group: web}", .rules), ("limits: {services-per-user: 3}", .anyone),
    ])
    func whoMayPublishWhileConnected(_ text: String, _ attached: AccessRules.Attached) throws {
        #expect(try ConfigurationDirectory(["discoverd.yaml": text]).load().access.attached == attached)
    }

    @Test(
        "drop-ins that another user could have written are left out, and said to be; the administrator's count as they are"
    )
    func dropInsOfOthers() throws {
        let service = { (name: String) in "{name: \(name), type: _http._tcp, port: 1}" }
        let packages = try ConfigurationDirectory([
            "services.d/a.yaml": service("a"), "services.d/b.yaml": service("b"),
        ])
        let running = try ConfigurationDirectory(["services.d/c.yaml": service("c")])
        let own = try ConfigurationDirectory(["services.d/d.yaml": service("d")])
        let names = { try own.load(running, packages).services.map(\.service.name.text).sorted() }
        #expect(try names() == ["a", "b", "c", "d"])
        for path in ["\(packages.path)/services.d/b.yaml", "\(own.path)/services.d/d.yaml"] { chmod(path, 0o666) }
        chmod("\(running.path)/services.d", 0o777)
        #expect(try names() == ["a", "d"])
        let reasons = try own.load(running, packages).leftOut.map(\.description)
        #expect(reasons.count == 2 && reasons.allSatisfy { $0.contains("no one else may write it") }, "\(reasons)")
        chmod("\(running.path)/services.d", 0o755)
        #expect(try names() == ["a", "c", "d"])
        guard geteuid() == 0 else { return }
        chown("\(running.path)/services.d", 65_534, 65_534)
        #expect(try names() == ["a", "d"])
    }

    @Test func dropInsAreReadInOrderOfName() throws {
        let directory = try ConfigurationDirectory([
            "services.d/20.yaml":
                "services:\n  - {name: c, type: _aa._tcp, port: 1}\n  - {name: d, type: _aa._tcp, port: 1}\n",
            "services.d/10.yaml": Self.service.replacingOccurrences(of: "name: a", with: "name: 100%% %h"),
            "services.d/.hidden.yaml": "broken: [", "services.d/x.yaml~": "broken: [",
            "discoverd.yaml": "services:\n  - {name: z, type: _aa._udp, port: 1}\n",
        ])
        #expect(try directory.load().services.map(\.service.name.text) == ["z", "100% h1", "c", "d"])
    }

    @Test(arguments: [
        ("backend: other\n", "discoverd.yaml:1: backend must be one of auto, system, wire, not \"other\""),
        ("avahi: system\n", "discoverd.yaml:1: avahi must be one of auto, always, never, not \"system\""),
        ("avahi: auto\nfinder: wire\n", "discoverd.yaml:2: finder is an old key, and avahi says the same"),
        ("\nbrowser: []\n", "discoverd.yaml:2: unknown key \"browser\"; known keys: alias, avahi, browse,"),
        ("backend: auto\n\nbackend: auto\n", "discoverd.yaml:3: the key \"backend\" is there twice"),
        ("access:\n  attached: all\n", "discoverd.yaml:2: attached must be one of anyone, rules, not \"all\""),
        ("browse: {a: b}\n", "discoverd.yaml:1: browse must be a list"),
        ("browse:\n  - _http._tcp\n  - _http\n", "discoverd.yaml:3: an entry of browse: \"_http\": no transport"),
        ("browse: [_aa._tcp, _AA._tcp]\n", "discoverd.yaml:1: _AA._tcp is there twice"),
        ("limits:\n  clients: 0\n", "discoverd.yaml:2: clients must be a whole number from 1 to 1024, not \"0\""),
        ("limits:\n  clients: \"5\"\n", "discoverd.yaml:2: clients must be a whole number"),
        ("limits:\n  clients: [5]\n", "discoverd.yaml:2: clients must be a whole number"),
        ("listen: example.org:80\n", "discoverd.yaml:1: listen must be a port, or an IP address"),
        ("dns: local\n", "discoverd.yaml:1: dns must be an IP address, or one with a port"),
        ("dns: 0.0.0.0\n", "discoverd.yaml:1: dns must be one of this machine's addresses"),
        ("dns: 127.0.0.55:5353\n", "discoverd.yaml:1: port 5353 is multicast DNS's own"),
        ("dns: fe80::5\n", "discoverd.yaml:1: \"fe80::5\" is link-local"),
        ("dns: 127.0.0.55:+53\n", "discoverd.yaml:1: dns must be an IP address"),
        ("dns: [\"[::]:53\"]\n", "discoverd.yaml:1: an entry of dns must be one of this machine's"),
        ("dns: [127.0.0.1, 127.0.0.1:53]\n", "discoverd.yaml:1: 127.0.0.1:53 is there twice"),
        ("dns: 127.0.0.1:0\n", "discoverd.yaml:1: dns must be an IP"),
        ("listen: ::1:80\n", "discoverd.yaml:1: listen must be"), ("listen: 127.0.0.1:0\n", "discoverd.yaml:1: listen"),
        ("- a\n", "discoverd.yaml:1: the file must be a mapping"), ("text\n", "discoverd.yaml:1: the file must be"),
        ("a: [\n", "discoverd.yaml:2: not YAML: "), ("a: b\n\tc: d\n", "discoverd.yaml:2: not YAML: "),
        ("a: 1\n---\na: 1\n", "discoverd.yaml:2: more than one document"),
        ("access:\n  allow:\n    - types: \"*\"\n", "discoverd.yaml:3: a rule has either user or group"),
        ("access:\n  allow:\n    - user: a\n", "discoverd.yaml:3: an entry of allow has no types"),
        (
            "access:\n  allow:\n    - {user: a, types: \"*\", hosts: [\"*\"]}\n",
            "discoverd.yaml:3: hosts takes names, and no pattern: name each host, as printer.local"
        ),
        ("? [a]\n: b\n", "discoverd.yaml:1: a key is a word"),
        ("browse: &a [_aa._tcp]\nservices: *a\n", "discoverd.yaml:1: anchors and aliases"),
        ("a\u{1B}[2J: 1\n", "discoverd.yaml: not YAML: "),
    ])
    func refuses(_ text: String, _ message: String) throws {
        let fault = try #require(try ConfigurationDirectory(["discoverd.yaml": text]).fault())
        #expect(
            fault.hasPrefix(message) || fault.hasPrefix(message.replacingOccurrences(of: "yaml:", with: "yaml:1:")),
            "\(fault)")
        #expect(!fault.needsTerminalEscaping)
    }

    @Test(arguments: [
        ("prot: 80\n", "services.d/a.yaml:4: unknown key \"prot\"; known keys: name, type, port, domain"),
        ("family: ipv5\n", "services.d/a.yaml:4: family must be one of ipv4, ipv6"),
        ("txt: {a=b: c}\n", "services.d/a.yaml:4: a=b: \"a=b\": \"=\" is not allowed"),
        ("txt:\n  a: 1\n  A: 2\n", "services.d/a.yaml:6: A: \"A\": the key is there already"),
        ("txt:\n  a: {base64: x}\n", "services.d/a.yaml:5: the value is not base64"),
        ("subtypes: [_aa, aa]\n", "services.d/a.yaml:4: the subtype \"aa\" is there twice"),
        ("interfaces: ['[']\n", "services.d/a.yaml:4: interfaces: "),
        ("domain: a..b\n", "services.d/a.yaml:4: domain: "),
        ("check: ping\n", "services.d/a.yaml:4: check: \"ping\": a check is"),
        ("check:\n  what: tcp\n  interval: 10x\n", "services.d/a.yaml:6: interval must be a time"),
        ("check:\n  what: tcp\n  interval: 0s\n", "services.d/a.yaml:5: check: the check's interval"),
        ("check: {what: tcp, exec: [a]}\n", "services.d/a.yaml:4: a check has either what or exec"),
        ("check: {what: tcp, rise: 101}\n", "services.d/a.yaml:4: rise must be a whole number"),
    ])
    func refusesInAService(_ text: String, _ message: String) throws {
        let fault = try #require(try ConfigurationDirectory(["services.d/a.yaml": Self.service + text]).fault())
        #expect(fault.hasPrefix(message), "\(fault)")
    }

    @Test(arguments: [
        ("type: _aa._tcp\nport: 1\n", "services.d/a.yaml:1: the service has no name"),
        ("name: a\ntype: _aa._tcp\nport: 65536\n", "services.d/a.yaml:3: port must be a whole number from 1 to 65535"),
        ("name: a\ntype: http\nport: 1\n", nil), ("name: 5\ntype: _aa._tcp\nport: 1\n", nil),
        ("name: a%x\ntype: _aa._tcp\nport: 1\n", "services.d/a.yaml:1: name: \"a%x\": after % only h"),
        ("name: a%\ntype: _aa._tcp\nport: 1\n", "services.d/a.yaml:1: name: "),
        ("name: [a]\ntype: _aa._tcp\nport: 1\n", "services.d/a.yaml:1: name must be a text"),
        ("name: '*'\ntype: _aa._tcp\nport: 1\ndomain: a.b\n", "services.d/a.yaml:1: * is a wildcard in a.b"),
        ("name: '*'\ntype: _aa._tcp\nport: 1\n", nil),
    ])
    func aServiceHasNameTypeAndPort(_ text: String, _ message: String?) throws {
        let fault = try ConfigurationDirectory(["services.d/a.yaml": text]).fault()
        #expect(fault?.hasPrefix(message ?? "-") ?? (message == nil), "\(fault ?? "")")
    }

    @Test func aServiceIsThereOnce() throws {
        let directory = try ConfigurationDirectory([
            "services.d/a.yaml": Self.service, "services.d/b.yaml": "\n" + Self.service,
        ])
        let fault = try #require(directory.fault())
        #expect(fault.hasPrefix("services.d/b.yaml:2: a of type _http._tcp is there already: "), "\(fault)")
        #expect(fault.hasSuffix("services.d/a.yaml:1"), "\(fault)")
    }
}
