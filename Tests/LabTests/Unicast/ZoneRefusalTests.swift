import Foundation
import Testing

/// What keeps a service from being published in a zone, or found there: for each its status and its message, within 5 s.
@Suite("Refusals of a zone", .labSlot)
struct ZoneRefusalTests {
    typealias Zone = DNSLab.Zone

    private struct Refusal {
        let words: String
        let exit: Int32
        let options: [String]
        var environment: [String: String] = [:]

        init(_ exit: Int32, _ words: String, _ options: String...) {
            (self.exit, self.words, self.options) = (exit, words, options)
        }
    }

    private static let keys = "/run/dns/keys"
    private static let pub = "\(keys)/pub.key"

    @Test(
        "key, clock, name, zone, server: each has its status and its words within 5 s, with --timeout 5 too",
        .labLong, arguments: Zone.allCases)
    func publishing(_ zone: Zone) async throws {
        let dns = try await DNSLab.start(zone.server, .unbound, .dnsmasq, .resolver)
        let before = try await dns.transfer(zone.name, from: zone.address)
        try await files(dns)
        // Only hosts below `hosts` are the key's there.
        let narrow = zone == .bind ? "home.example.org" : "office.example.org"
        var fast = Refusal(77, "clock", "--domain", zone.name, "--key", Self.pub)
        fast.environment = ["LD_PRELOAD": Lab.clockOffset, "CLOCK_OFFSET_FILE": "/run/lab/clock"]
        let refusals = [
            Refusal(
                77, "does not know the key unknown.home.example.org", "--domain", zone.name, "--key",
                "\(Self.keys)/unknown.key"),
            Refusal(
                77, "another secret for the key pub.home.example.org", "--domain", zone.name, "--key",
                "\(Self.keys)/wrong-secret.key"),
            fast,
            // Knot says the same of a key that it does not know.
            Refusal(77, "write h1.\(narrow).", "--domain", narrow, "--key", Self.pub),
            Refusal(
                78, "\(zone.address) does not serve other.example.net (REFUSED)", "--domain", "other.example.net",
                "--server",
                zone.address, "--key", Self.pub),
            Refusal(
                78, "10.53.0.3 does not serve other.example.net (SERVFAIL)", "--domain", "other.example.net",
                "--server",
                "10.53.0.3", "--key", Self.pub),
            Refusal(
                78, "10.53.0.1 is a resolver rather than the server of \(zone.name)", "--domain", zone.name, "--server",
                "10.53.0.1", "--key", Self.pub),
            Refusal(
                78, "10.53.0.2 is a resolver rather than the server of \(zone.name)", "--domain", zone.name, "--server",
                "10.53.0.2", "--key", Self.pub),
            Refusal(
                69, "no answer from 10.53.2.9", "--domain", zone.name, "--server", "10.53.2.9", "--key", Self.pub),
            Refusal(
                78, "others than its owner and its group", "--domain", zone.name, "--key", "/run/lab/open.key"),
            Refusal(78, "/run/lab/none.key is not there", "--domain", zone.name, "--key", "/run/lab/none.key"),
            Refusal(
                78, "the key file /run/lab/garbage.key is not", "--domain", zone.name, "--key", "/run/lab/garbage.key"),
            Refusal(78, "needs an entry with a key", "--domain", zone.name),
        ]
        for refusal in refusals {
            for timeout in [[], ["--timeout", "5"]] {
                let process = try dns.lab.exec(
                    "h1", [Built.discoverd, "publish", "tony", "9000"] + refusal.options + timeout,
                    environment: refusal.environment)
                // 5 s, and what a busy machine takes to start it.
                #expect(try await process.exit(within: .seconds(8)) == .exited(refusal.exit), "\(refusal.options)")
                let errors = process.lines(.stderr)
                #expect(errors.contains { $0.contains(": error: ") && $0.contains(refusal.words) }, "\(errors)")
                // No secret in a message.
                #expect(!errors.contains { $0.contains("c2Vjcm") || $0.contains("d3Jvb") }, "\(errors)")
            }
        }
        #expect(try await dns.transfer(zone.name, from: zone.address) == before)
        try await dns.stop()
    }

    @Test("100 services of a type: 76, with the number, and what was there stays", arguments: Zone.allCases)
    func limit(_ zone: Zone) async throws {
        let dns = try await DNSLab.start(zone.server, .unbound)
        let list = "_witap._tcp.\(zone.name)"
        let lines = (0..<100).map { "update add \(list) 60 PTR s\($0).\(list)" }
        try await dns.nsupdate(zone.address, zone.name, lines)
        for timeout in [[], ["--timeout", "5"]] {
            let run = try await dns.lab.toEnd(
                "h1",
                [Built.discoverd, "publish", "tony", "9000", "--domain", zone.name, "--key", Self.pub] + timeout,
                within: .seconds(15))
            #expect(run.exit == .exited(76) && run.duration < .seconds(5), "\(run)")
            #expect(run.failure?.contains("100 services of _witap._tcp") == true, "\(run.errors)")
        }
        #expect(try await dns.dig("h1", "+tcp", "@\(zone.address)", list, "PTR").count == 100)
        try await dns.stop()
    }

    @Test(
        "behind a filter against rebinding: 76, and the word; through the daemon and with --server, too",
        arguments: Zone.allCases)
    func rebinding(_ zone: Zone) async throws {
        let dns = try await DNSLab.start(zone.server, .unbound, .dnsmasq)
        let publisher = try dns.lab.discoverd(
            "h1", "publish", "tony", "9000", "--domain", zone.name, "--key", Self.pub, "--json")
        try await publisher.json("established") { $0.state == "established" }
        try await dns.resolv("h3", "nameserver 10.53.0.2")
        let ways = [
            ["resolve", "tony", "_witap._tcp"], ["connect", "--probe", "tony", "_witap._tcp"],
            ["resolve", "tony", "_witap._tcp", "--server", "10.53.0.2"],
        ]
        for way in ways { try await expectRebinding(way, dns, zone) }
        try await dns.settings("h3", "domains:", "  - {name: \(zone.name)}")
        let daemon = try LabDaemon(dns.lab, "h3", socket: LabDaemon.systemSocket)
        try daemon.configure("domains: [{name: \(zone.name)}]")
        try await daemon.start()
        for way in ways { try await expectRebinding(way, dns, zone) }
        let list = try await daemon.curl("/v1/services?type=_witap._tcp&domain=\(zone.name)").text
        #expect(list.contains(#""withheld":""#) && list.contains("rebinding"), "\(list)")
        try await daemon.stop()
        try await publisher.stop()
        try await dns.stop()
    }

    private func expectRebinding(_ way: [String], _ dns: DNSLab, _ zone: Zone) async throws {
        let run = try await dns.lab.toEnd(
            "h3", [Built.discoverd] + way + ["--domain", zone.name], within: .seconds(15))
        #expect(run.exit == .exited(76) && run.duration < .seconds(5), "\(way) \(run)")
        #expect(run.failure?.contains("rebinding") == true, "\(way) \(run.errors)")
    }

    @Test("a dead server beside the link: named, 69 where nothing was found, and what is on the link is told")
    func deadServerBesideTheLink() async throws {
        let dns = try await DNSLab.start(.unbound)
        try await dns.resolv("h3", "nameserver 10.53.2.9", "options timeout:1 attempts:1")
        for command in [["browse", "_witap._tcp", "-t"], ["types"], ["wait", "_witap._tcp", "--timeout", "5"]] {
            let run = try await dns.lab.toEnd(
                "h3", [Built.discoverd] + command + ["--domain", "home.example.org", "--domain", "local"],
                within: .seconds(15))
            #expect(run.exit == .exited(69), "\(command) \(run)")
            #expect(run.failure?.contains("10.53.2.9") == true, "\(command) \(run.errors)")
        }
        try await dns.stop()
    }

    private func files(_ dns: DNSLab) async throws {
        let made = try await dns.lab.bash(
            "h1",
            "cd /run/lab; echo -600 >clock; cp /run/dns/keys/pub.key open.key; chmod 644 open.key; head -c 300 /dev/urandom >garbage.key; chmod 640 garbage.key"
        )
        #expect(made.exit == .exited(0), "\(made.errors)")
    }
}
