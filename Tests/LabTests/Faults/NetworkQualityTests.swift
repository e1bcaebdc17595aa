import Foundation
import Testing

extension FaultTests {
    @Suite("Quality of the network")
    struct NetworkQualityTests {
        @Test("27: 30 % of packets lost both ways: 100 of 100 within 10 s")
        func loseThirty() async throws {
            try await LossyNetwork.run(percent: 30, services: 100, within: .seconds(10), scenario: "27")
        }

        @Test("28: 60 % of packets lost both ways: 20 of 20 within 60 s", .onlyInAll)
        func loseSixty() async throws {
            try await LossyNetwork.run(percent: 60, services: 20, within: .seconds(60), scenario: "28")
        }

        @Test(
            "29: each of the first three responses is lost by half a chance",
            arguments: Everything.of([10, 100], inAChange: [10]),
            Everything.of(["-4", "-6"], inAChange: ["-6"]))
        func loseTheFirst(services: Int, family: String) async throws {
            let lab = try await Lab.start()
            var publications = try lab.publish(services, on: "h1")
            let names = Lab.names(services)
            try await publications.wait(forEstablished: names, within: .seconds(10))
            // The announcements are over, so the first responses are answers.
            try await Task.sleep(for: .milliseconds(1_500))
            // The bucket holds three packets and gets no fourth in time; bit 16 of the header is QR (RFC 1035 §4.1.1).
            let rules = """
                table inet faults {
                chain in {
                type filter hook input priority 0
                iifname "eth0" udp sport 5353 @th,80,1 1 limit rate 1/day burst 3 packets numgen random mod 2 < 1 drop
                }
                }
                """
            try await lab.nft("h2", rules)
            var browser = try lab.browse(on: "h2", "-r", family)
            let recovery = try await browser.wait(for: "all resolved", within: .seconds(10)) { log in
                log.names == names && log.present.values.allSatisfy { $0.state == "resolved" && !$0.addresses.isEmpty }
            }
            Figures(
                scenario: "29",
                what: "each of the first three responses lost by half a chance, \(services) services, \(family)",
                lost: names.subtracting(browser.names).count,
                recovery: recovery,
                flaps: browser.count("removed")
            ).record()
            try await lab.stop()
        }

        @Test("31: delay of up to 500 ms and reordering: the same set")
        func reordered() async throws {
            let lab = try await Lab.start()
            try await lab.run("sw", "ip", "link", "add", "r0", "type", "veth", "peer", "name", "r1")
            try await lab.run(
                "sw", "sh", "-c", "ip link set p2 nomaster; ip link set r1 master br0 up; ip link set r0 up")
            let relay = try lab.python("sw", "relay.py", "p2", "r0", "--delay", "500")
            try await relay.line { $0 == "ready" }
            let (_, browser, names) = try await lab.published(50)
            var log = browser
            let recovery = try await log.wait(for: "all resolved", within: .seconds(15)) { log in
                log.names == names && log.present.values.allSatisfy { $0.addresses.contains("10.77.0.1") }
            }
            try await lab.sentinel(&log)
            #expect(log.count("removed") == 0)
            Figures(
                scenario: "31",
                what: "each packet delayed by 0 to 500 ms, 50 services",
                lost: names.subtracting(log.names).count,
                recovery: recovery,
                flaps: log.count("removed")
            ).record()
            try await lab.stop()
        }

        @Test("32: a link of 64 kbit/s: 100 services within 30 s", .onlyInAll)
        func narrow() async throws {
            let lab = try await Lab.start()
            try await lab.run(
                "h1", "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "64kbit", "burst", "2kb", "latency",
                "200ms")
            var publications = try lab.publish(100, on: "h1")
            var browser = try lab.browse(on: "h2", "-r")
            let names = Lab.names(100)
            let start = ContinuousClock.now
            try await publications.wait(forEstablished: names, within: .seconds(10))
            try await browser.wait(for: "all", within: .seconds(30)) { log in
                log.names == names && log.present.values.allSatisfy { $0.state == "resolved" }
            }
            let recovery = start.duration(to: .now)
            #expect(recovery < .seconds(30))
            Figures(
                scenario: "32",
                what: "a link of 64 kbit/s, 100 services",
                lost: names.subtracting(browser.names).count,
                recovery: recovery,
                flaps: browser.count("removed"),
                note: "from nothing until all are resolved"
            ).record()
            try await lab.stop()
        }

        @Test("33: the network is cut between two hosts for 10 s, and heals")
        func partition() async throws { try await Partition.run(for: .seconds(10)) }
    }
}

/// Scenarios 27 and 28.
enum LossyNetwork {
    static func run(percent: Int, services: Int, within limit: Duration, scenario: String) async throws {
        let lab = try await Lab.start()
        // On one host only, so that each direction loses this much, and not twice.
        let rules = """
            table inet faults {
            chain in {
            type filter hook input priority 0
            iifname "eth0" udp dport 5353 numgen random mod 100 < \(percent) counter drop
            }
            chain out {
            type filter hook output priority 0
            oifname "eth0" udp dport 5353 numgen random mod 100 < \(percent) counter drop
            }
            }
            """
        try await lab.nft("h2", rules)
        var publications = try lab.publish(services, on: "h1")
        var browser = try lab.browse(on: "h2")
        let names = Lab.names(services)
        let start = ContinuousClock.now
        try await publications.wait(forEstablished: names, within: .seconds(10))
        try await browser.wait(for: "all", within: limit) { $0.names == names }
        let recovery = start.duration(to: .now)
        #expect(browser.count("removed") == 0)
        // With few packets one direction may have been lucky, but not both.
        let unused = try await lab.run("h2", "nft", "list", "ruleset").count { $0.contains("packets 0 bytes") }
        #expect(unused < 2)
        Figures(
            scenario: scenario,
            what: "\(percent) % loss both ways, \(services) services",
            lost: names.subtracting(browser.names).count,
            recovery: recovery,
            flaps: browser.count("removed"),
            note: "from nothing until all are found"
        ).record()
        try await lab.stop()
    }
}

/// Scenario 33.
enum Partition {
    static func run(for duration: Duration) async throws {
        let lab = try await Lab.start()
        var (publications, browser, names) = try await lab.published(20)
        // Off the bridge but with a carrier: neither side can notice.
        try await lab.run("sw", "ip", "link", "set", "p1", "nomaster")
        var late = try lab.publish("late", on: "h1")
        try await late.wait(forEstablished: ["late"], within: .seconds(5))
        try await Task.sleep(for: duration)
        try await lab.run("sw", "ip", "link", "set", "p1", "master", "br0")
        let start = ContinuousClock.now
        try await lab.sentinel(&browser)
        let heard = start.duration(to: .now)
        try browser.catchUp()
        try publications.catchUp()
        #expect(browser.names.isSuperset(of: names) && publications.established == names)
        #expect(!browser.lines.contains { $0.event == "removed" && $0.service?.name != "sentinel" })
        Figures(
            scenario: "33",
            what: "the network cut for \(Int(duration / .seconds(1))) s, 20 services",
            lost: names.subtracting(browser.names).count,
            recovery: heard,
            note: "until a new service is seen"
        ).record()
        try await lab.stop()
    }
}

extension Lab {
    /// Loads a host's own firewall, each rule on its own line.
    func nft(_ host: String, _ rules: String) async throws {
        let process = try exec(host, "nft", "-f", "-")
        process.write(rules + "\n")
        process.closeInput()
        guard try await process.exit() == .exited(0) else { throw process.missed("nft refused the rules") }
    }
}
