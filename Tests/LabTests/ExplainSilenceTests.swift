import Foundation
import Testing

/// `explain` of what is there, and does not answer: it says no more than it can know.
@Suite("explain: silence", .labSlot)
struct ExplainSilenceTests {
    /// Expects these codes, and returns the line.
    private func expect(
        _ codes: [String], _ lab: Lab, _ arguments: String..., on host: String = "h2",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let (named, run) = try await lab.explain(arguments, on: host)
        #expect(named == codes, "\(run)", sourceLocation: sourceLocation)
        return run.output.first ?? ""
    }

    @Test(
        "the other machine's firewall, another VLAN, a hung avahi-daemon there: no one says that it is not there",
        .labLong)
    func elsewhere() async throws {
        let lab = try await Lab.start("--hosts", "3", "--no-avahi", "h2")
        let publisher = try await lab.avahiPublish("h1", "web", "_http._tcp", "9000")
        let other = try await lab.avahiPublish("h3", "printer", "_ipp._tcp", "631")
        func silent(_ what: String) async throws {
            let line = try await expect(["no-answer"], lab, "web")
            #expect(line.contains("no one on eth0 answers for a service, type or host named web"), "\(what): \(line)")
            for cause in ["not offered", "is off", "another VLAN", "drops UDP port 5353", "'discoverd doctor' there"] {
                #expect(line.contains(cause), "\(what): \(line)")
            }
        }
        func drop(in hook: String) async throws {
            try await lab.nft(
                "h1", ["type filter hook \(hook) priority 0;", "udp dport 5353 drop", "udp sport 5353 drop"])
        }
        try await drop(in: "output")
        try await silent("output")
        try await lab.run("sw", "ip", "link", "set", "p1", "nomaster")
        try await lab.run("h1", "nft", "flush", "ruleset")
        try await silent("another VLAN")
        try await lab.avahi("h1", "stop")
        try await lab.run("sw", "ip", "link", "set", "p1", "master", "br0")
        try await silent("hung")
        try await drop(in: "input")
        try await lab.avahi("h1", "cont")
        try await silent("input")
        publisher.signal(SIGTERM)
        other.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("this machine: its own service where its avahi-daemon hangs, and its own firewall")
    func own() async throws {
        let lab = try await Lab.start()
        let publisher = try await lab.avahiPublish("h1", "web", "_http._tcp", "9000")
        let other = try await lab.avahiPublish("h2", "printer", "_ipp._tcp", "631")
        try await lab.avahi("h1", "stop")
        for arguments in [["web"], ["web", "_http._tcp"]] {
            let (codes, run) = try await lab.explain(arguments, on: "h1")
            #expect(codes == ["no-answer", "no-responder"], "\(run)")
            #expect(run.output.first?.contains("avahi-daemon (pid ") == true, "\(run)")
        }
        try await lab.avahi("h1", "cont")
        try await lab.firewall("h2", "udp dport 5353 drop", "udp sport 5353 drop")
        let line = try await expect(["multicast-not-heard"], lab, "web", "_http._tcp")
        #expect(line.contains("a firewall of this machine drops UDP port 5353"), "\(line)")
        publisher.signal(SIGTERM)
        other.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("-4 at a host that has IPv6 only: the other family is said, of a service and of a bare word")
    func family() async throws {
        let lab = try await Lab.start("--hosts", "3")
        let other = try await lab.avahiPublish("h3", "printer", "_ipp._tcp", "631")
        try await lab.run("h1", "ip", "-4", "address", "flush", "dev", "eth0")
        let publisher = try await lab.avahiPublish("h1", "web", "_http._tcp", "9000")
        for name in [["web", "_http._tcp"], ["web"]] {
            let (codes, run) = try await lab.explain(["-4"] + name)
            let line = run.output.first ?? ""
            #expect(codes == ["other-family"], "\(run)")
            #expect(line.contains("over IPv6 fe80::") && line.contains("leave out -4"), "\(line)")
        }
        _ = try await expect([], lab, "-6", "web", "_http._tcp", "--no-connect")
        publisher.signal(SIGTERM)
        other.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("a bare word finds avahi-daemon's stale cache, as its type does")
    func staleCache() async throws {
        let lab = try await Lab.start("--hosts", "3")
        let other = try await lab.avahiPublish("h3", "printer", "_ipp._tcp", "631")
        let publisher = try await lab.avahiPublish("h1", "web", "_http._tcp", "9000")
        try await lab.run("h2", "avahi-browse", "-rt", "_http._tcp")
        try await lab.run("h1", "ip", "link", "set", "eth0", "down")
        let line = try await expect(["no-answer", "avahi-differs"], lab, "web")
        #expect(line.contains("web._http._tcp.local"), "\(line)")
        publisher.signal(SIGTERM)
        other.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("a bare word finds what the daemon lists, of a type that no one has a name for")
    func staleDaemon() async throws {
        let lab = try await Lab.start("--hosts", "3", "--no-avahi", "h2")
        let other = try await lab.avahiPublish("h3", "printer", "_ipp._tcp", "631")
        let publisher = try await lab.avahiPublish("h1", "web", "_unheardof._tcp", "9000")
        let daemon = try await LabDaemon.start(on: "h2", of: lab)
        let known = try await lab.ask("h2", "browse", "--all", "-t", within: .seconds(15))
        #expect(known.output.contains { $0.hasPrefix("+\tweb\t") }, "\(known)")
        try await lab.run("h1", "ip", "link", "set", "eth0", "down")
        let line = try await expect(["no-answer"], lab, "web")
        #expect(line.contains("discoverd's daemon still lists web._unheardof._tcp.local"), "\(line)")
        try await daemon.stop()
        publisher.signal(SIGTERM)
        other.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("a key that is not the known one is a note, and no fault")
    func key() async throws {
        let lab = try await Lab.start()
        let keys = ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA"]
        let publisher = try lab.discoverd(
            "h1", "publish", "web", "9000", "--type", "_http._tcp", "--txt", "tls=1", "--txt", "fp=SHA256:\(keys[0])")
        try await publisher.line { $0.hasPrefix("published ") }
        let add = try await lab.ask("h2", "known", "add", "web._http._tcp.local", "SHA256:\(keys[1])")
        #expect(add.exit == .exited(0), "\(add)")
        let (codes, run) = try await lab.explain(["web", "_http._tcp", "--no-connect"])
        #expect(codes == [] && run.exit == .exited(0), "\(run)")
        #expect(run.output.first?.contains("announces another key than the one that is known") == true, "\(run)")
        try await publisher.stop()
        try await lab.stop()
    }

    @Test("resolve marks a name that two hosts claim")
    func twoHosts() async throws {
        let lab = try await Lab.start(hosts: 3)
        func claim(_ host: String, _ name: String, _ port: Int, _ address: Int) async throws -> LabProcess {
            try await lab.inject(
                host,
                """
                {"services": [{"instance": "dup", "type": "_http._tcp", "port": \(port), "host": "\(name)", "addresses": ["10.77.0.\(address)"]}]}
                """, ["-4", "--interval", "0.3"])
        }
        let one = try await claim("h1", "aaa", 8080, 1)
        let other = try await claim("h3", "bbb", 9090, 3)
        let browser = try lab.discoverd("h2", "browse", "_http._tcp", "-r", "--no-daemon")
        try await browser.line { $0.contains("10.77.0.1,10.77.0.3") }
        let run = try await lab.ask("h2", "resolve", "dup", "_http._tcp", "--no-daemon")
        try await browser.stop()
        #expect(
            run.output.contains { $0.hasPrefix("endpoint\t10.77.0.1:8080\t") && $0.hasSuffix("\taaa.local") }, "\(run)")
        #expect(
            run.output.contains { $0.hasPrefix("endpoint\t10.77.0.3:9090\t") && $0.hasSuffix("\tbbb.local") }, "\(run)")
        #expect(run.errors.contains { $0.contains("2 hosts claim this name: aaa.local, bbb.local") }, "\(run)")
        for process in [one, other] { process.signal(SIGTERM) }
        try await lab.stop()
    }
}
