import Foundation
import Glibc
import Testing

/// Two gateways of one link with one sub-domain, and links that lie and flap.
@Suite("Gateways that stand by", .labSlot)
struct GatewayStandbyTests {
    /// A server with the zone that the gateways write to.
    struct Site: CustomTestStringConvertible, Sendable {
        let server: DNSLab.Server
        let zone: String
        let address: String

        static let knot = Site(server: .knot, zone: "office.example.org", address: "10.53.0.54")
        static let bind = Site(server: .bind, zone: "home.example.org", address: "10.53.0.53")
        static let all = Everything.of([bind, knot], inAChange: [knot])

        var domain: String { "link1.\(zone)" }
        var testDescription: String { zone }

        /// The server, a resolver, and what is in the zone.
        func start() async throws -> (DNSLab, before: [String]) {
            let dns = try await DNSLab.start(server, .unbound)
            return (dns, try await dns.transfer(zone, from: address))
        }
    }

    private static let link = #"""
        {"services": [
            {"instance":"one","type":"_printer._tcp","port":515,"host":"a","addresses":["10.53.1.77"],"ttl":4500},
            {"instance":"two","type":"_printer._tcp","port":515,"host":"a","addresses":["10.53.1.77"],"ttl":4500},
            {"instance":"three","type":"_printer._tcp","port":515,"host":"b","addresses":["10.53.1.78"],"ttl":4500}
        ]}
        """#
    private static let names: Set<String> = ["one", "two", "three"]

    @Test(
        "the second stands by, takes over when the lease of the first has ended, and the first stands by when it is back",
        .labLong, arguments: Site.all)
    func standby(_ site: Site) async throws {
        let (zone, domain, address) = (site.zone, site.domain, site.address)
        let (dns, before) = try await site.start()
        let link = try await dns.lab.inject("h2", Self.link, ["-4", "--interval", "5"])
        let first = try await Self.gateway(dns, "gw1", domain)
        try await Self.until(dns, domain, address, is: "gw1")
        let browser = try dns.lab.discoverd("h3", "browse", "_printer._tcp", "-r", "--json", "--domain", domain)
        let second = try await Self.gateway(dns, "gw2", domain)
        // Its hosts are there before it tries their services.
        try await Self.untilThere(dns, "gw2-2.\(domain)", address)
        try await Self.untilStandingBy(second)
        try await Self.until(dns, domain, address, is: "gw1")

        try first.process.signal(SIGKILL)
        try await first.process.exit()
        let killed = ContinuousClock.now
        try await Self.until(dns, domain, address, is: "gw2")
        let took = ContinuousClock.now - killed
        // The lease of 10 s, which is watched from a look on; two hosts are taken back one after the other.
        #expect(took < .seconds(25), "\(took)")

        try await first.start(arguments: Self.arguments(of: first))
        try await Self.untilThere(dns, "gw1-2.\(domain)", address)
        try await Self.untilStandingBy(first)
        try await Self.until(dns, domain, address, is: "gw2")

        let events = browser.lines().compactMap { try? Line($0) }
        let added = events.filter { $0.event == "added" }.compactMap(\.service?.name)
        #expect(Set(added) == Self.names, "\(added)")
        var present: Set<String> = []
        for event in events {
            guard let name = event.service?.name else { continue }
            if event.event == "added" { #expect(present.insert(name).inserted, "\(name) twice") }
            if event.event == "removed" { present.remove(name) }
        }
        #expect(present == Self.names, "\(browser.lines())")

        try await browser.stop()
        try await first.stop()
        try await second.stop()
        let after = try await dns.transfer(zone, from: address)
        #expect(after == before, "\(Set(after).symmetricDifference(before).sorted().prefix(5))")
        link.signal(SIGKILL)
        try await dns.stop()
    }

    @Test(
        "a thousand names, foreign hosts, and services that come and go all the time: the zone's serial moves a bounded number of times",
        .labLong, arguments: Site.all)
    func hostile(_ site: Site) async throws {
        let (zone, domain, address) = (site.zone, site.domain, site.address)
        let (dns, before) = try await site.start()
        let crowd = (0..<1000).map {
            #"{"instance":"c\#($0)","type":"_ipp._tcp","port":631,"host":"\#($0 % 4 == 0 ? "far" : "crowd")","#
                + #""addresses":["\#($0 % 4 == 0 ? "8.8.8.8" : "10.53.1.80")"],"ttl":4500}"#
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "link-\(UUID().uuidString)")
        try #"{"services": [\#(crowd.joined(separator: ",\n"))]}"#.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let path = file.path(percentEncoded: false)
        let inject = "exec \(Lab.python) \(Lab.scripts)/inject.py -4 --interval 2 <'\(path)'"
        let link = try dns.lab.exec("h2", ["/bin/sh", "-c", inject])
        try await link.line(within: .seconds(20), "ready") { $0 == "ready" }
        let flapping = try dns.lab.exec(
            "h2", [Lab.python, "\(Lab.scripts)/flap.py", "50", "2", "3600", "_printer._tcp"])

        let began = try await Self.serial(dns, zone, address)
        let start = ContinuousClock.now
        let gateway = try await Self.gateway(dns, "gw1", domain)
        _ = try await gateway.curl("/v1/status", within: .seconds(60)) { answer in
            try answer.objects("exports").first?["services"] as? Int == 90
        }
        // Two of the holds that changes have.
        try await Task.sleep(for: .seconds(20))
        let moved = try await Self.serial(dns, zone, address) - began
        let seconds = Double((ContinuousClock.now - start).components.seconds)
        // 90 services in few messages; a lease for each of the crowd's hosts, renewed each 5 s.
        #expect(moved >= 4 && Double(moved) <= 30 + seconds, "\(moved) in \(seconds) s")
        let records = Set(try await dns.transfer(zone, from: address)).subtracting(before)
        #expect(records.allSatisfy { $0.prefix { !$0.isWhitespace }.hasSuffix("link1.\(zone).") })
        #expect(!records.contains { $0.contains("8.8.8.8") || $0.contains("far.") })

        try await gateway.stop()
        let (after, log) = (try await dns.transfer(zone, from: address), try gateway.process.lines(.stderr))
        #expect(after == before, "\(Set(after).symmetricDifference(before).sorted().prefix(10)) \(log)")
        #expect(!log.contains { $0.contains("not followed") }, "\(log)")
        flapping.signal(SIGKILL)
        link.signal(SIGKILL)
        try await dns.stop()
    }

    private static func gateway(_ dns: DNSLab, _ name: String, _ domain: String) async throws -> LabDaemon {
        let daemon = try LabDaemon(dns.lab, "h1")
        try daemon.configure(
            """
            domains:
              - {name: \(domain), key: /run/dns/keys/gw.key, lease: 10s, ttl: 5s, host: \(name)}
            export:
              - {interface: eth0, domain: \(domain), types: [_printer._tcp, _ipp._tcp]}
            """)
        try await daemon.start(arguments: arguments(of: daemon))
        return daemon
    }

    private static func arguments(of daemon: LabDaemon) -> [String] {
        daemon.arguments + ["--state", "\(daemon.directory)/state"]
    }

    /// Waits until the three services are in the zone, each once, on hosts of a gateway.
    private static func until(_ dns: DNSLab, _ domain: String, _ address: String, is gateway: String) async throws {
        let script = """
            until [ "$(for n in one two three; do dig +short @\(address) $n._printer._tcp.\(domain) SRV; done | grep -c ' \(gateway)-')" = 3 ]
            do sleep 0.1; done
            dig +short @\(address) _printer._tcp.\(domain) PTR | cut -d. -f1
            """
        let run = try await dns.lab.bash("h3", script, within: .seconds(60))
        #expect(run.output.sorted() == names.sorted())
    }

    /// Waits until it has tried to publish, has a lease, and nothing of what it exports is its own.
    private static func untilStandingBy(_ gateway: LabDaemon) async throws {
        _ = try await gateway.curl("/v1/status", within: .seconds(30)) { answer in
            let (zone, export) = (try answer.objects("domains").first, try answer.objects("exports").first)
            return zone?["state"] as? String == "held" && zone?["services"] as? Int == 0
                && export?["services"] as? Int == 3
        }
    }

    private static func untilThere(_ dns: DNSLab, _ host: String, _ address: String) async throws {
        let script = "until dig +short @\(address) \(host) A | grep -q .; do sleep 0.1; done"
        #expect(try await dns.lab.bash("h3", script, within: .seconds(30)).exit == .exited(0))
    }

    private static func serial(_ dns: DNSLab, _ zone: String, _ address: String) async throws -> Int {
        let soa = try await dns.run("h3", "/usr/bin/env", "dig", "+short", "@\(address)", zone, "SOA")
        return try #require(soa.first?.split(separator: " ").dropFirst(2).first.flatMap { Int($0) })
    }
}
