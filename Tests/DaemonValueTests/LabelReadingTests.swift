import DNSSD
import Discovery
import DiscoveryControl
import DiscoveryDaemon
import DiscoveryJSON
import Labels
import Testing

/// Labels are anybody's text: what they want published, and what they may.
@Suite("labels")
struct LabelReadingTests {
    static let anyType = grants { _ in }

    private static func grants(_ change: (inout LabelGrants) throws -> Void) rethrows -> LabelGrants {
        var grants = LabelGrants()
        grants.types = nil
        try change(&grants)
        return grants
    }

    private static func subject(
        _ labels: KeyValuePairs<String, String>, ports: Labelled.Ports = .any, rules: [String] = []
    ) -> Labelled {
        var subject = Labelled(name: "web")
        subject.labels = labels.map { ($0.key, $0.value) }
        (subject.ports, subject.rules, subject.isUp) = (ports, rules, true)
        return subject
    }

    private static func read(
        _ labels: KeyValuePairs<String, String>, ports: Labelled.Ports = .any, rules: [String] = [],
        _ grants: LabelGrants = anyType
    ) -> LabelReading { LabelReading(subject(labels, ports: ports, rules: rules), grants) }

    /// `8081/tcp!` is one of this machine alone.
    private static func ports(_ texts: String...) throws -> Labelled.Ports {
        let bindings = texts.enumerated().map { number, text in
            let parts = text.split(separator: "/")
            let address = text.hasSuffix("!") ? "127.0.0.1" : ""
            return #""\#(number)/\#(parts[1].prefix(3))":[{"HostIp":"\#(address)","HostPort":"\#(parts[0])"}]"#
        }
        let json = #"{"Name":"/x","State":{},"NetworkSettings":{"Ports":{\#(bindings.joined(separator: ","))}}}"#
        let subject = try Labelled(inspection: JSONReader.read(Array(json.utf8)), readsTraefik: false)
        return try #require(subject).ports
    }

    @Test("a service has the container's name, its one published port, and the TXT record that is said")
    func service() throws {
        let reading = Self.read(
            ["publish": "_http._tcp", "txt.path": "/x", "txt.a": ""], ports: try Self.ports("8081/tcp", "53/udp"))
        var service = try OfferedService(name: "web", type: "_http._tcp", port: 8081)
        service.txt = ["path": "/x", "a": ""]
        #expect(reading.requests == [RegistrationRequest(service)] && reading.problems.isEmpty)
    }

    @Test(
        "what is wrong is said in a sentence that is safe for a terminal, and nothing is published",
        arguments: [
            (["publish": "_http._tcp"], "port is missing"), (["publish": "_http._tcp", "port": "0"], "no number"),
            (["publish": "_http._tcp", "port": "80\n"], "no number"), (["publish": "x y", "port": "80"], ""),
            (["publish": "", "port": "80"], ""), (["name": "web"], "there is no"),
            (["publish": "_http._tcp", "port": "80", "prot": "1"], "is no label"),
            (["publish": "_http._tcp", "port": "80", "txt.": "1"], "txt."),
            (["publish": "_http._tcp", "port": "80", "txt.a=b": "1"], "txt."),
            (["publish": "_http._tcp", "port": "80", "\u{1b}[2J\n": "1"], "is no label"),
            (["publish": "_http._tcp", "port": "80", "txt.a": String(repeating: "x", count: 300)], "255"),
            (["publish": "_http._tcp", "port": "80", "txt.a": String(repeating: "x", count: 1 << 20)], "longer than"),
            (["publish": "_http._tcp", "port": "80", "name": "a\nb"], ""),
            (["publish": "_http._tcp", "port": "80", "name": String(repeating: "x", count: 64)], "63"),
            (["publish": "_http._tcp", "port": "80", "check": "tcp"], "is no label"),
            (["alias": "_http._tcp"], ""), (["alias": "local"], ""), (["alias": "a..b"], ""),
        ] as [(KeyValuePairs<String, String>, String)])
    func wrong(_ labels: KeyValuePairs<String, String>, _ part: String) throws {
        let reading = Self.read(labels, Self.grants { $0.names = .all })
        #expect(reading.requests.isEmpty && reading.problems.count == 1, "\(reading)")
        let problem = try #require(reading.problems.first)
        #expect(problem.contains(part) && problem.utf8.count < 400, "\(problem)")
        #expect(problem.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "\(problem)")
    }

    @Test("a port is the host's side of one that is published for others, and no other's")
    func port() throws {
        func port(_ said: String?, _ ports: Labelled.Ports) -> UInt16? {
            let labels: KeyValuePairs =
                said.map { ["publish": "_http._tcp", "port": $0] } ?? ["publish": "_http._tcp"]
            return Self.read(labels, ports: ports).requests.first?.service.port.rawValue
        }
        let (one, two) = (try Self.ports("8081/tcp"), try Self.ports("8081/tcp", "8443/tcp"))
        #expect(port(nil, one) == 8081 && port("8081", one) == 8081 && port("22", one) == nil)
        #expect(port(nil, two) == nil && port("8443", two) == 8443)
        #expect(port(nil, .published([])) == nil && port("80", .published([])) == nil)
        #expect(port(nil, try Self.ports("53/udp")) == nil)
        let own = try Self.ports("8081/tcp!")
        #expect(port(nil, own) == nil && port("8081", own) == nil)
        #expect(port("22", .any) == 22)
    }

    @Test("nothing is permitted that is not named; a name of its own needs no permission")
    func grants() throws {
        let ports = try Self.ports("8081/tcp")
        func isGranted(_ labels: KeyValuePairs<String, String>, _ change: (inout LabelGrants) throws -> Void) throws
            -> Bool
        {
            var grants = LabelGrants()
            try change(&grants)
            let reading = Self.read(labels, ports: ports, grants)
            #expect(reading.requests.isEmpty != reading.problems.isEmpty)
            #expect(reading.problems.allSatisfy { $0.contains("under `access:`") }, "\(reading.problems)")
            return reading.problems.isEmpty
        }
        let web = try ServiceType("_http._tcp")
        #expect(try !isGranted(["publish": "_http._tcp"]) { _ in })
        #expect(try isGranted(["publish": "_http._tcp"]) { $0.types = [web] })
        #expect(try isGranted(["publish": "_HTTP._tcp", "name": "web"]) { $0.types = [web] })
        #expect(try !isGranted(["publish": "_ssh._tcp"]) { $0.types = [web] })
        #expect(try !isGranted(["publish": "_http._tcp", "name": "Bank"]) { $0.types = nil })
        #expect(
            try isGranted(["publish": "_http._tcp", "name": "Wiki"]) {
                $0.types = nil
                $0.names = try NamePatterns(["W*"])
            })
        #expect(
            try !isGranted(["publish": "_http._tcp"]) {
                $0.types = nil
                $0.names = try NamePatterns(["W*"])
            })
        #expect(try !isGranted(["alias": "wiki"]) { $0.types = nil })
        #expect(try isGranted(["alias": "WIKI.local"]) { $0.aliases = [try HostName("wiki.local")] })
    }

    @Test("a name that is too long is told with its length, and matters only where it is the service's")
    func longName() {
        var subject = Labelled(name: String(repeating: "a", count: 1000))
        subject.labels = [("publish", "_http._tcp"), ("port", "80")]
        #expect(
            LabelReading(subject, Self.anyType).problems == ["its own name has 1000 bytes, at most 63 are allowed"])
        #expect(subject.name.utf8.count == 256)
        subject.labels.append(("name", "web"))
        let named = Self.grants { $0.names = .all }
        #expect(LabelReading(subject, named).problems.isEmpty)
    }

    @Test("aliases are each by themselves, and never have another name; Traefik's rules name those of hosts")
    func aliases() throws {
        let grants = try Self.grants { $0.aliases = [try HostName("wiki.local"), try HostName("shop.wiki.local")] }
        let reading = Self.read(
            ["alias": "wiki, shop.wiki,wiki,bank"],
            rules: ["Host(`wiki.local`)", "PathPrefix(`/`) && Host(`other.local`)"], grants)
        #expect(reading.requests.map(\.service.name.text) == ["wiki.local", "shop.wiki.local"])
        #expect(reading.requests.allSatisfy { $0.onConflict == .fail && $0.service.isAlias })
        #expect(reading.problems.count == 2, "\(reading.problems)")
        #expect(TraefikRule.hosts("Host(`a.local`, \"b.local\") || Host(`c.example.org`)") == ["a.local", "b.local"])
        #expect(TraefikRule.hosts("!Host(`a.local`) && HostRegexp(`b.local`) && MyHost(`c.local`)").isEmpty)
        #expect(TraefikRule.hosts("Host(").isEmpty && TraefikRule.hosts("Host(`)").isEmpty)
        #expect(TraefikRule.hosts(String(repeating: "Host(`a.local`)", count: 1000)).isEmpty)
    }
}

/// What Podman 4.3.1 and Docker say of a container.
@Suite("containers")
struct ContainerTests {
    private static func container(
        _ state: String, network: String = "bridge", labels: String = #"{"io.discoverd.publish":"_http._tcp"}"#
    ) throws -> Labelled? {
        let json = """
            {"Id":"e2b4","Name":"/web","State":\(state),"HostConfig":{"NetworkMode":"\(network)"},
            "Config":{"Labels":\(labels)},
            "NetworkSettings":{"Ports":{"80/tcp":[{"HostIp":"","HostPort":"8081"},{"HostIp":"::","HostPort":"8081"}],"443/tcp":null}}}
            """
        return Labelled(inspection: try JSONReader.read(Array(json.utf8)), readsTraefik: true)
    }

    @Test(
        "it is up while it runs, and is healthy where it has a check",
        arguments: [
            (#"{"Running":true,"Health":{"Status":""}}"#, true), (#"{"Running":true}"#, true),
            (#"{"Running":true,"Health":{"Status":"none"}}"#, true),
            (#"{"Running":true,"Health":{"Status":"healthy"}}"#, true),
            (#"{"Running":true,"Health":{"Status":"starting"}}"#, false),
            (#"{"Running":true,"Health":{"Status":"unhealthy"}}"#, false),
            (#"{"Running":true,"Paused":true}"#, false), (#"{"Running":true,"Restarting":true}"#, false),
            (#"{"Running":false}"#, false), (#"{"Running":"true"}"#, false), ("{}", false),
        ])
    func isUp(_ state: String, _ isUp: Bool) throws {
        #expect(try Self.container(state)?.isUp == isUp)
    }

    @Test("its name, its labels and its ports; more labels than anyone has are an error")
    func parts() throws {
        let web = try #require(try Self.container("{}"))
        #expect(web.name == "web" && web.labels.map(\.key) == ["publish"] && !web.saysNothing)
        guard case .published(let ports) = web.ports else { return #expect(Bool(false)) }
        #expect(ports.map(\.host) == [8081])
        #expect(try Self.container("{}", network: "host")?.ports == .any)
        #expect(try Self.container("{}", labels: "null")?.saysNothing == true)
        #expect(try Self.container("{}", labels: #"{"a":"b","io.discoverd.port":7}"#)?.saysNothing == true)
        let many = (0..<100).map { #""io.discoverd.txt.\#($0)":"x""# }.joined(separator: ",")
        let full = try #require(try Self.container("{}", labels: "{\(many)}"))
        #expect(full.problem != nil && LabelReading(full, LabelGrants()).problems.count == 1)
        let long = String(repeating: "x", count: 20_000)
        let huge = try #require(try Self.container("{}", labels: #"{"io.discoverd.a":"\#(long)"}"#))
        #expect(huge.labels.isEmpty && huge.problem?.contains("16 KiB") == true)
        #expect(try Self.container("{}", labels: #"{"a":"\#(long)"}"#)?.saysNothing == true)
        let rule = #"{"traefik.http.routers.w.rule":"Host(`w.local`)"}"#
        #expect(try Self.container("{}", labels: rule)?.rules == ["Host(`w.local`)"])
        let off = #"{"traefik.http.routers.w.rule":"Host(`w.local`)","traefik.enable":"false"}"#
        #expect(try Self.container("{}", labels: off)?.saysNothing == true)
        #expect(try Labelled(inspection: JSONReader.read(Array("[]".utf8)), readsTraefik: false) == nil)
    }

    @Test("any bytes in the place of an inspection or an event end nothing")
    func mutated() {
        let texts = [
            #"{"Name":"/web","State":{"Running":true},"HostConfig":{"NetworkMode":"host"},"Config":{"Labels":{"#
                + #""io.discoverd.publish":"_http._tcp","io.discoverd.port":"80","io.discoverd.alias":"w","#
                + #""traefik.http.routers.w.rule":"Host(`w.local`)"}},"NetworkSettings":{"Ports":{"80/tcp":[{"HostPort":"81"}]}}}"#,
            #"{"Type":"container","Action":"start","Actor":{"ID":"e2b4","Attributes":{"io.discoverd.publish":"x"}}}"#,
        ]
        var random = SystemRandomNumberGenerator()
        var events = RuntimeEvents(readsTraefik: true)
        for round in 0..<4000 {
            var bytes = Array(texts[round % 2].utf8)
            for _ in 0..<(round % 5) {
                guard let place = bytes.indices.randomElement(using: &random) else { break }
                switch round % 3 {
                case 0: bytes[place] = .random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(contentsOf: bytes.suffix(place % 40), at: place)
                }
            }
            _ = events.received(bytes + [0x0A]) { _ in round % 7 == 0 }
            guard let json = try? JSONReader.read(bytes), let subject = Labelled(inspection: json, readsTraefik: true)
            else { continue }
            let reading = LabelReading(subject, LabelReadingTests.anyType)
            #expect(reading.problems.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 } })
        }
    }
}
