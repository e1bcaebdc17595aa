import Foundation
import Testing

/// `explain`: each fault brought about, and named; and nothing named where there is none.
@Suite("explain", .labSlot)
struct ExplainTests {
    /// Expects these codes, and the status that belongs to them.
    private func expect(
        _ codes: [String], _ lab: Lab, _ arguments: String..., on host: String = "h2",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let (named, run) = try await lab.explain(arguments, on: host)
        #expect(named == codes, "\(run)", sourceLocation: sourceLocation)
        #expect(run.exit == .exited(codes.isEmpty ? 0 : 1), "\(run)", sourceLocation: sourceLocation)
    }

    /// Listens on h1, for whoever connects.
    private func serve(_ lab: Lab) async throws -> LabProcess {
        let server = try lab.exec("h1", ["python3", "-u", "-m", "http.server", "9000", "--bind", "::"])
        try await server.line(.stdout, "serving") { $0.hasPrefix("Serving") }
        return server
    }

    private static let service = #"{"services": [{"instance": "NAME", "type": "_http._tcp", "host": "NAME", SERVICE}]}"#

    private func inject(
        _ lab: Lab, _ service: String = #""addresses": ["10.77.0.1"]"#, options: [String] = ["-4"],
        on host: String = "h1",
        name: String = "tony"
    ) async throws -> LabProcess {
        try await lab.inject(
            host, Self.service.replacing("NAME", with: name).replacing("SERVICE", with: service), options)
    }

    @Test("a healthy service, its type and its host: nothing is named, run after run", .labLong)
    func healthy() async throws {
        let lab = try await Lab.start("--hosts", "3")
        let publisher = try await lab.avahiPublish("h1", "tony", "_http._tcp", "9000")
        let server = try await serve(lab)
        for _ in 0..<(Everything.isAsked ? 20 : 5) {
            try await expect([], lab, "tony", "_http._tcp")
        }
        for other in ["tony", "tony._http._tcp.local", "_http._tcp", "http", "h1.local", "h1"] {
            try await expect([], lab, other)
        }
        try await expect([], lab, "tony", on: "h1")
        let text = try await lab.ask("h2", "explain", "tony", "_http._tcp")
        #expect(text.output.contains { $0.hasPrefix("connect\t10.77.0.1 port 9000\tconnected\t") }, "\(text)")
        #expect(text.output.first == "ok\tnothing is wrong with tony._http._tcp.local", "\(text)")
        publisher.signal(SIGTERM)
        server.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("what is not there: a silent link, no answer, another type, a slip")
    func absent() async throws {
        let silent = try await Lab.start("--no-avahi", "h1")
        try await expect(["silent-link"], silent, "tony", "_http._tcp")
        try await silent.stop()
        let lab = try await Lab.start()
        let publisher = try await lab.avahiPublish("h1", "printer", "_ipp._tcp", "631")
        try await expect(["no-answer"], lab, "tony", "_http._tcp")
        try await expect(["other-type"], lab, "printer", "_http._tcp")
        try await expect(["similar-name"], lab, "Pinter", "_ipp._tcp")
        try await expect(["other-type"], lab, "_ip._tcp")
        publisher.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("connections: refused, dropped, and addresses that are not dialled")
    func connections() async throws {
        let lab = try await Lab.start()
        let publisher = try await lab.avahiPublish("h1", "tony", "_http._tcp", "9000")
        try await expect(["connection-refused"], lab, "tony", "_http._tcp")
        try await expect([], lab, "tony", "_http._tcp", "--no-connect")
        try await lab.firewall("h1", "tcp dport 9000 drop")
        try await expect(["connection-timeout"], lab, "tony", "_http._tcp")
        publisher.signal(SIGTERM)
        _ = try await publisher.exit()
        let injector = try await inject(lab, #""addresses": ["203.0.113.7", "127.0.0.1"]"#)
        try await expect(["address-refused"], lab, "tony", "_http._tcp")
        try await injector.stop()
        try await lab.stop()
    }

    @Test("records that are missing: SRV, TXT, PTR, addresses, the port")
    func records() async throws {
        let lab = try await Lab.start()
        let cases = [
            (#"{"name": "_http._tcp.local", "type": "PTR", "target": "tony._http._tcp.local"}"#, "no-service-record"),
            (
                #"""
                {"name": "_http._tcp.local", "type": "PTR", "target": "tony._http._tcp.local"},
                {"name": "tony._http._tcp.local", "type": "SRV", "port": 9000, "target": "box.local"},
                {"name": "tony._http._tcp.local", "type": "TXT", "strings": []}
                """#, "no-address"
            ),
            (
                #"""
                {"name": "_http._tcp.local", "type": "PTR", "target": "tony._http._tcp.local"},
                {"name": "tony._http._tcp.local", "type": "SRV", "port": 9000, "target": "box.local"},
                {"name": "box.local", "type": "A", "address": "10.77.0.1"}
                """#, "no-text-record"
            ),
            (
                #"""
                {"name": "tony._http._tcp.local", "type": "SRV", "port": 9000, "target": "box.local"},
                {"name": "tony._http._tcp.local", "type": "TXT", "strings": []},
                {"name": "box.local", "type": "A", "address": "10.77.0.1"}
                """#, "not-listed"
            ),
            (
                #"""
                {"name": "_http._tcp.local", "type": "PTR", "target": "tony._http._tcp.local"},
                {"name": "tony._http._tcp.local", "type": "SRV", "port": 0, "target": "box.local"},
                {"name": "tony._http._tcp.local", "type": "TXT", "strings": []},
                {"name": "box.local", "type": "A", "address": "10.77.0.1"}
                """#, "no-port"
            ),
        ]
        for (records, code) in cases {
            let injector = try await lab.inject("h1", #"{"records": [\#(records)]}"#)
            try await expect([code], lab, "tony", "_http._tcp", "--no-connect")
            try await injector.stop()
        }
        try await lab.stop()
    }

    @Test("hosts: two for one name, one off the link, one whose packets were forwarded")
    func hosts() async throws {
        let lab = try await Lab.start("--hosts", "3")
        let one = try await inject(lab, name: "tina")
        let other = try await inject(lab, #""port": 9001, "addresses": ["10.77.0.3"]"#, on: "h3", name: "tina")
        // The service, and its host.
        try await expect(["two-hosts", "two-hosts"], lab, "tina", "_http._tcp", "--no-connect")
        try await one.stop()
        try await other.stop()
        let injector = try await inject(lab)
        try await lab.nft("h1", ["type filter hook output priority 0;", "udp sport 5353 ip ttl set 64"])
        try await expect(["hop-limit"], lab, "tony", "_http._tcp", "--no-connect")
        try await lab.run("h1", "nft", "flush", "ruleset")
        try await injector.stop()
        try await lab.run("h2", "sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.eth0.rp_filter=0")
        try await lab.run("h1", "ip", "address", "replace", "192.0.2.9/24", "dev", "eth0")
        try await lab.run("h1", "ip", "address", "delete", "10.77.0.1/24", "dev", "eth0")
        let far = try await inject(lab, #""addresses": ["10.77.0.3"]"#)
        try await expect(["off-link"], lab, "tony", "_http._tcp", "--no-connect")
        try await far.stop()
        try await lab.stop()
    }

    @Test("paths: multicast that is not heard, not delivered, not sent; lost packets; no interface", .labLong)
    func paths() async throws {
        let lab = try await Lab.start()
        let publisher = try await lab.avahiPublish("h1", "tony", "_http._tcp", "9000")
        try await lab.firewall("h2", "udp dport 5353 drop")
        try await expect(["multicast-not-heard"], lab, "tony", "_http._tcp", "--no-connect")
        try await lab.firewall("h2", "udp sport 5353 udp dport != 5353 numgen inc mod 2 0 drop")
        try await expect(["loss"], lab, "tony", "_http._tcp", "--no-connect")
        try await lab.nft("h2", ["type filter hook output priority 0;", "udp dport 5353 drop"])
        try await expect(["not-sent"], lab, "tony", "_http._tcp", "--no-connect")
        try await lab.run("h2", "nft", "flush", "ruleset")
        _ = try await lab.bash("h2", "echo >/dev/tcp/10.77.0.1/9")
        try await lab.firewall("h1", "ip daddr 224.0.0.251 drop", "ip6 daddr ff02::fb drop")
        try await expect(["multicast-not-delivered"], lab, "tony", "_http._tcp", "--no-connect")
        try await lab.run("h2", "ip", "link", "set", "eth0", "down")
        try await expect(["no-interface"], lab, "tony", "_http._tcp", "--no-connect")
        publisher.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("other responders are healthy too; a program that holds port 5353 alone")
    func others() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        let publisher = try lab.python("h1", "zc_publish.py", ["zed", "_http._tcp", "9000"])
        try await publisher.line(.stdout, "ready") { $0.hasPrefix("ready") }
        for _ in 0..<5 { try await expect([], lab, "zed", "_http._tcp", "--no-connect") }
        let holder = try lab.exec(
            "h2",
            [
                "python3", "-uc",
                """
                import signal, socket
                held = [socket.socket(family, socket.SOCK_DGRAM) for family in (socket.AF_INET, socket.AF_INET6)]
                held[1].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                for one in held: one.bind(("", 5353))
                print("held")
                signal.pause()
                """,
            ])
        try await holder.line(.stdout, "held") { $0 == "held" }
        try await expect(["port-taken"], lab, "zed", "_http._tcp", "--no-connect")
        holder.signal(SIGTERM)
        publisher.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("a device whose messages are cut off: it is found, resolved, and its fault named")
    func brokenMessages() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        // tony._witap._tcp.local at 10.77.0.1, and an address of which the last two bytes are missing.
        let names = ["065f7769746170045f746370056c6f63616c00", "04746f6e79c00c", "036d6163c018"]
        let records = [
            names[0] + "000c0001" + "00001194" + "0007" + names[1],
            "c029" + "00218001" + "00000078" + "000c"
                + "000000002328" + names[2], "c029" + "00108001" + "00001194" + "0001" + "00",
            "c042" + "00018001" + "00000078" + "0004" + "0a4d0001", "c042" + "00018001" + "00000078" + "0004" + "0a4d",
        ]
        let packet = "000084000000000500000000" + records.joined()
        let injector = try await lab.inject("h1", #"{"raw":[{"hex":"\#(packet)"}]}"#, ["-4", "--interval", "0.3"])
        let found = try await lab.ask("h2", "browse", "_witap._tcp", "-r", "--count", "1", "--json")
        #expect(found.output.first?.contains(#""address":"10.77.0.1","port":9000"#) == true, "\(found)")
        let (codes, run) = try await lab.explain(["tony", "_witap._tcp", "--no-connect"], on: "h2")
        #expect(codes == ["broken-message"], "\(run)")
        try await injector.stop()
        try await lab.stop()
    }

    @Test("avahi-daemon has what is gone; a service that is being withdrawn")
    func avahi() async throws {
        let lab = try await Lab.start("--hosts", "3")
        let publisher = try await lab.avahiPublish("h3", "printer", "_ipp._tcp", "631")
        let injector = try await inject(lab, options: ["-4", "--no-goodbye"])
        try await lab.run("h2", "avahi-browse", "-rt", "_http._tcp")
        try await injector.stop()
        try await expect(["no-answer", "avahi-differs"], lab, "tony", "_http._tcp")
        let leaving = try await inject(lab, #""ttl": 0"#)
        try await expect(["withdrawn"], lab, "tony", "_http._tcp")
        try await leaving.stop()
        publisher.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("a link full of hostile packets: it ends in time, shows none of it raw, and hears the service")
    func hostile() async throws {
        let lab = try await Lab.start("--hosts", "3")
        let publisher = try await lab.avahiPublish("h1", "tony", "_http._tcp", "9000")
        let records = (0..<400).map { number in
            #"{"name": "_http._tcp.local", "type": "PTR", "target": [{"hex": "1b5b324a"}, "n\#(number)", "_http", "_tcp", "local"]}"#
        }
        let raw = #"[{"hex": "1b5b324a"}, {"hex": "0000840000010001ffffffff"}]"#
        let flood = try await lab.inject(
            "h3", #"{"records": [\#(records.joined(separator: ","))], "raw": \#(raw)}"#, ["--interval", "0.05"])
        func wrong(_ run: Lab.Run) -> Set<String> {
            let lines = run.output.map { $0.split(separator: "\t").map(String.init) }
            return Set(lines.filter { $0.first == "wrong" && $0.count == 3 }.map { $0[1] })
        }
        let one = try await lab.ask("h2", "explain", "tony", "_http._tcp", "--no-connect", within: .seconds(10))
        #expect(
            one.output.contains { $0.hasPrefix("answer\ttony._http._tcp.local SRV 0 0 9000 h1.local.\t") }, "\(one)")
        // A host that is kept busy may not answer all, or not before the time is over.
        #expect(wrong(one).isSubset(of: ["loss"]) || wrong(one) == ["incomplete"], "\(one)")
        let list = try await lab.ask("h2", "explain", "_http._tcp", within: .seconds(10))
        // The host that lists the type also sends what no one can read.
        #expect(
            ["no-service-record", "loss", "incomplete"].contains { wrong(list) == [$0, "broken-message"] }, "\(list)")
        #expect(list.output.contains { $0.contains(#"\027[2J"#) && !$0.utf8.contains(0x1B) }, "\(list)")
        #expect(list.output.count < 110)
        try await flood.stop()
        let cut = try await lab.ask("h2", "explain", "tony", "_http._tcp", "--no-connect", "--timeout", "0.5")
        #expect(wrong(cut) == ["incomplete"], "\(cut)")
        publisher.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("--pcap: what tshark reads, in a file of one's own; nothing is replaced")
    func capture() async throws {
        let lab = try await Lab.start()
        let publisher = try await lab.avahiPublish("h1", "tony", "_http._tcp", "9000")
        let path = NSTemporaryDirectory() + "explain-\(UUID().uuidString).pcap"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let run = try await lab.ask("h2", "explain", "tony", "_http._tcp", "--no-connect", "--pcap", path)
        #expect(run.exit == .exited(0), "\(run)")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let tshark = ["tshark", "-n", "-r", path, "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
        let fields = [
            "frame.interface_name", "ip.checksum.status", "udp.checksum.status", "dns.qry.name", "dns.srv.port",
        ]
        let read = try await lab.toEnd(
            "h2", tshark + ["-T", "fields"] + fields.flatMap { ["-e", $0] }, within: .seconds(30))
        let lines = read.output.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
        #expect(lines.contains { $0.first == "eth0" && $0[3].contains("tony._http._tcp.local") }, "\(read)")
        #expect(lines.contains { $0.last?.contains("9000") == true }, "\(read)")
        // 0 is a bad checksum.
        #expect(lines.allSatisfy { $0[1] != "0" && $0[2] != "0" }, "\(read)")
        let again = try await lab.ask("h2", "explain", "tony", "_http._tcp", "--no-connect", "--pcap", path)
        #expect(again.exit == .exited(74) && again.output.isEmpty, "\(again)")
        publisher.signal(SIGTERM)
        try await lab.stop()
    }
}
