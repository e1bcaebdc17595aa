import Foundation
import Testing

extension Lab {
    /// Explains on a host: the codes of what is wrong, or nil where no explanation is printed.
    func explain(_ arguments: [String], on host: String = "h2") async throws -> (codes: [String]?, run: Run) {
        let run = try await toEnd(host, [Built.discoverd, "explain", "--json"] + arguments, within: .seconds(20))
        let line = try? JSONSerialization.jsonObject(with: Data((run.output.first ?? "").utf8)) as? [String: Any]
        return ((line?["diagnoses"] as? [[String: String]])?.compactMap { $0["code"] }, run)
    }
}

/// `explain`: networks that only look as if something were wrong, and what ends it early.
@Suite("explain, in doubt", .labSlot)
struct ExplainDoubtTests {
    private func expect(
        _ codes: [String], _ lab: Lab, _ arguments: String..., on host: String = "h2", status: Int32? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let (named, run) = try await lab.explain(arguments, on: host)
        #expect(named == codes, "\(run)", sourceLocation: sourceLocation)
        #expect(run.exit == .exited(status ?? (codes.isEmpty ? 0 : 1)), "\(run)", sourceLocation: sourceLocation)
    }

    private func service(_ name: String, address: Int) -> String {
        #"{"instance": "\#(name)", "type": "_http._tcp", "host": "box", "addresses": ["10.77.0.\#(address)"]}"#
    }

    /// A second link of a host, on the bridge of the first.
    private func addInterface(_ lab: Lab, _ host: String, _ address: String) async throws {
        try await lab.lab("link", host, "eth1", address)
        try await lab.run("sw", "ip", "link", "set", "\(host)-eth1", "master", "br0")
    }

    @Test("healthy networks of other shapes: nothing is named", .labLong)
    func shapes() async throws {
        let lab = try await Lab.start("--hosts", "3")
        let publishers = [
            try await lab.avahiPublish("h1", "tony", "_http._tcp", "9000"),
            try await lab.avahiPublish("h2", "tina", "_http._tcp", "9000"),
        ]
        let many = try lab.exec("h3", Lab.publishMany, "100", "many", "_many._tcp", "9000")
        try await many.line(within: .seconds(60), "ready") { $0.hasPrefix("ready") }
        for host in ["h1", "h2", "h3"] {
            let server = try lab.exec(host, ["python3", "-u", "-m", "http.server", "9000", "--bind", "::"])
            try await server.line(.stdout, "serving") { $0.hasPrefix("Serving") }
            _ = lab.keep(server)
        }
        let names = [["tony", "_http._tcp"], ["tina", "_http._tcp"], ["_http._tcp"], ["_many._tcp"], ["h1.local"]]
        func all(_ what: String) async throws {
            for arguments in names {
                let (codes, run) = try await lab.explain(arguments)
                #expect(codes == [] && run.exit == .exited(0), "\(what): \(run)")
            }
        }
        try await all("three hosts, an own service, a hundred of one type")
        let daemon = try await LabDaemon.start(on: "h2", of: lab)
        try await all("with a daemon")
        try await daemon.stop()
        try await addInterface(lab, "h1", "10.77.0.11/24")
        try await all("a host with two interfaces on the link")
        try await addInterface(lab, "h2", "10.77.0.12/24")
        try await all("this machine with two, too")
        for process in publishers + [many] { process.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test("a hundred services of one host, each with packets of its own")
    func crowd() async throws {
        let lab = try await Lab.start()
        let services = (0..<100).map { service("s\($0)", address: 1) }.joined(separator: ", ")
        let injector = try await lab.inject("h1", #"{"services": [\#(services)]}"#)
        try await expect([], lab, "_http._tcp")
        try await injector.stop()
        try await lab.stop()
    }

    @Test("two addresses of one host name, each said from there: a note; from elsewhere: two hosts")
    func twoInterfaces() async throws {
        let lab = try await Lab.start("--hosts", "3")
        let first = try await lab.inject("h1", #"{"services": [\#(service("tony", address: 1))]}"#, ["-4"])
        let second = try await lab.inject("h3", #"{"services": [\#(service("tony", address: 3))]}"#, ["-4"])
        try await expect([], lab, "tony", "_http._tcp", "--no-connect")
        let text = try await lab.ask("h2", "explain", "box.local")
        #expect(text.output.contains { $0.hasPrefix("note\tbox.local is one host with two interfaces") }, "\(text)")
        let doctor = try await lab.ask("h2", "doctor", within: .seconds(20))
        #expect(doctor.output.contains { $0.hasPrefix("ok\tnames\tbox.local is one host with two") }, "\(doctor)")
        #expect(!doctor.output.contains { $0.hasPrefix("warn\tnames") }, "\(doctor)")
        try await second.stop()
        let impostor = try await lab.inject("h3", #"{"services": [\#(service("tony", address: 9))]}"#, ["-4"])
        try await expect(["two-hosts"], lab, "box.local")
        try await impostor.stop()
        try await first.stop()
        try await lab.stop()
    }

    @Test("a responder that limits its answers: no packets are lost")
    func limited() async throws {
        let lab = try await Lab.start()
        let publisher = try await lab.avahiPublish("h1", "tony", "_http._tcp", "9000")
        try await lab.nft(
            "h1",
            [
                "type filter hook output priority 0;",
                "udp sport 5353 udp dport != 5353 limit rate over 1/second burst 4 packets drop",
            ])
        try await expect([], lab, "tony", "_http._tcp", "--no-connect")
        publisher.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("no route to the host is not a refusal; what avahi-daemon has over IPv6 is none of IPv4's")
    func paths() async throws {
        let lab = try await Lab.start()
        let publisher = try await lab.avahiPublish("h1", "tony", "_http._tcp", "9000")
        try await lab.firewall("h1", "tcp dport 9000 reject with icmpx type host-unreachable")
        try await expect(["no-route"], lab, "tony", "_http._tcp")
        publisher.signal(SIGTERM)
        _ = try await publisher.exit()
        let injector = try await lab.inject("h1", #"{"services": [\#(service("six", address: 1))]}"#, ["-6"])
        try await lab.run("h2", "avahi-browse", "-rt", "_http._tcp")
        try await expect(["other-family"], lab, "-4", "six", "_http._tcp")
        try await injector.stop()
        try await lab.stop()
    }

    @Test("names that are not there: this machine's without a responder, a word, an address, a name of another domain")
    func names() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        let publisher = try await lab.avahiPublish("h1", "tony", "_http._tcp", "9000")
        for name in ["h2.local", "h2"] { try await expect(["no-responder"], lab, name) }
        let word = try await lab.explain(["unheardof"])
        #expect(word.codes == ["no-answer"] && word.run.exit == .exited(1), "\(word.run)")
        #expect(
            word.run.output.first?.contains("no one on eth0 answers for a service, type or host named unheardof")
                == true)
        #expect(word.run.output.first?.contains("no mDNS responder runs on this machine") == true, "\(word.run)")
        let there = try await lab.explain(["unheardof"], on: "h1")
        #expect(there.run.output.first?.contains("no mDNS responder") == false, "\(there.run)")
        for (name, advice) in [("10.77.0.1", "discoverd resolve 10.77.0.1"), ("www.example.org", "below local")] {
            let run = try await lab.ask("h2", "explain", name)
            #expect(run.exit == .exited(64) && run.failure?.contains(advice) == true, "\(run)")
        }
        publisher.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("Ctrl-C: 130, what was heard so far, the capture, and nothing that is missing", arguments: [SIGINT, SIGTERM])
    func interrupted(_ signal: Int32) async throws {
        let lab = try await Lab.start()
        let path = NSTemporaryDirectory() + "explain-\(UUID().uuidString).pcap"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let listener = try lab.exec(
            "h1",
            [
                "python3", "-uc",
                """
                import socket
                link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
                print("ready")
                while b"nobody" not in link.recv(9000): pass
                print("asked")
                """,
            ])
        try await listener.line(.stdout, "ready") { $0 == "ready" }
        let run = try lab.discoverd("h2", "explain", "nobody", "_http._tcp", "--json", "--pcap", path)
        try await listener.line(.stdout, "asked") { $0 == "asked" }
        run.signal(signal)
        #expect(try await run.exit() == .exited(130))
        #expect(
            run.lines().count == 1 && run.lines()[0].contains(#""diagnoses":[{"code":"interrupted""#), "\(run.lines())")
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect(size ?? 0 > 100)
        try await lab.stop()
    }

    @Test("--pcap without room: the explanation is there, 74, and no file; a link is not followed")
    func noRoom() async throws {
        let lab = try await Lab.start()
        let publisher = try await lab.avahiPublish("h1", "tony", "_http._tcp", "9000")
        let room = "mkdir /run/small && mount -t tmpfs -o size=4k tmpfs /run/small"
        try await lab.run("h2", "sh", "-c", room)
        let arguments = ["explain", "tony", "_http._tcp", "--no-connect", "--pcap"]
        let full = try await lab.toEnd(
            "h2", [Built.discoverd] + arguments + ["/run/small/x"], within: .seconds(20))
        #expect(full.exit == .exited(74) && full.output.first?.hasPrefix("ok\t") == true, "\(full)")
        #expect(full.failure?.contains("cannot write /run/small/x: No space left on device") == true, "\(full)")
        #expect(try await lab.run("h2", "ls", "-A", "/run/small").isEmpty)
        try await lab.run("h2", "ln", "-s", "/run/target", "/run/link.pcap")
        let link = try await lab.toEnd(
            "h2", [Built.discoverd] + arguments + ["/run/link.pcap"], within: .seconds(20))
        #expect(link.exit == .exited(74) && link.output.isEmpty, "\(link)")
        #expect(try await lab.toEnd("h2", ["ls", "/run/target"], within: .seconds(5)).exit != .exited(0))
        publisher.signal(SIGTERM)
        try await lab.stop()
    }
}
