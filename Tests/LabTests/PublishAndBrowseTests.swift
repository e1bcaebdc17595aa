import Foundation
import Testing

/// The main job, as on the first page of the manual: publish on one host, browse on another.
@Suite("publish and browse", .labSlot)
struct PublishAndBrowseTests {
    static let lab = Task { try await Lab.start() }
    /// How long a withdrawal may take to be reported: Avahi's second (RFC 6762 §10.1), discoverd's 3.2 s, and a margin.
    static let removal = Duration.milliseconds(4500)

    @Test("one added with IPv4, scoped IPv6 and the exact TXT, then settled, and everybody else sees the same")
    func oneService() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish("h1", "tony", "9000", "--txt", "path=/x", "--txt", "flag")
        let seen = try await lab.ask("h2", "browse", "_witap._tcp", "-r", "-t", "--json")
        #expect(seen.exit == .exited(0) && seen.errors.isEmpty)
        let lines = try seen.lines()
        try #require(lines.map(\.event) == ["added", "settled"])
        #expect(lines.allSatisfy { $0.v == 1 })
        let service = try #require(lines[0].service)
        #expect(service.name == "tony" && service.type == "_witap._tcp" && service.domain == "local")
        #expect(service.host == "h1.local" && service.port == 9000 && service.state == "resolved")
        #expect(service.interfaces == ["eth0"] && service.subtypes == [])
        #expect(seen.output[0].contains(#""txt":{"path":"/x","flag":null}"#))
        let endpoints = try #require(service.endpoints)
        #expect(endpoints.map(\.family).sorted() == ["ipv4", "ipv6"])
        #expect(endpoints.allSatisfy { $0.port == 9000 && $0.interface == "eth0" })
        #expect(endpoints.contains { $0.address == "10.77.0.1" })
        #expect(endpoints.contains { $0.address.hasPrefix("fe80::") && $0.address.hasSuffix("%eth0") })

        let avahi = try await lab.run("h2", "avahi-browse", "-rtpk", "_witap._tcp")
        #expect(
            avahi.contains {
                $0.hasPrefix("=;eth0;IPv4;tony;_witap._tcp;local;h1.local;10.77.0.1;9000;")
                    && $0.contains(#""path=/x""#) && $0.contains(#""flag""#)
            }
        )
        let zeroconf = try await Zeroconf.find("tony", "_witap._tcp", on: "h2", of: lab)
        #expect(zeroconf.port == 9000 && zeroconf.strings == ["path=/x", "flag"].map { Array($0.utf8) })
        try await publisher.stop()
    }

    @Test("removed within 4.5 s when the publisher ends in whatever way, and added again", .labAlone)
    func comesAndGoes() async throws {
        let lab = try await Self.lab.value
        try await withThrowingTaskGroup { group in
            // A responder that is killed says nothing; of a client avahi-daemon does.
            for signal in [SIGTERM, SIGINT] + (Lab.publishesOnWire ? [] : [SIGKILL]) {
                group.addTask { try await self.comesAndGoes(by: signal, in: lab) }
            }
            try await group.waitForAll()
        }
    }

    private func comesAndGoes(by signal: Int32, in lab: Lab) async throws {
        let type = "_goes\(signal)._tcp"
        let browser = try lab.discoverd("h2", "browse", type, "--json")
        for _ in 0..<2 {
            let publisher = try await lab.publish("h1", "tony", "9000", "--type", type)
            try await browser.json("added") { $0.tells("added", "tony") }
            publisher.signal(signal)
            try await browser.json(within: Self.removal, "removed") { $0.tells("removed", "tony") }
            #expect(try await publisher.exit() == (signal == SIGKILL ? .signalled(SIGKILL) : .exited(0)))
        }
        try await browser.stop(SIGINT)
        #expect(browser.lines().count { $0.contains("added") } == 2)
        #expect(browser.lines(.stderr).isEmpty)
    }

    @Test("another TXT record by republishing is told as updated, without a loss that did not last")
    func republished() async throws {
        let lab = try await Self.lab.value
        // avahi-daemon takes a second to probe and announce, and 1.3 s after a goodbye an end is told: a busy machine may need longer.
        var took = Duration.seconds(10)
        for number in 1...5 where took > .milliseconds(1200) {
            let type = "_text\(number)._tcp"
            let browser = try lab.discoverd("h2", "browse", type, "-r", "--json")
            let first = try await lab.publish("h1", "tony", "9000", "--type", type, "--txt", "v=1")
            try await browser.json("v=1") { $0.tells("added", "tony") && $0.service?.txt?["v"] == .text("1") }
            let start = ContinuousClock.now
            try await first.stop()
            let second = try await lab.publish("h1", "tony", "9001", "--type", type, "--txt", "v=2")
            took = .now - start
            // For a moment Avahi may report the new TXT record with the old SRV record.
            let updated = try await browser.json("v=2 on 9001") {
                $0.service?.txt?["v"] == .text("2") && $0.service?.port == 9001
            }
            try await second.stop()
            try await browser.json(within: Self.removal, "removed") { $0.tells("removed", "tony") }
            let told = try browser.lines().map { try Line($0).event }.filter { $0 != "settled" }
            try await browser.stop()
            #expect(told.first == "added" && told.last == "removed")
            guard took <= .milliseconds(1200) else { continue }
            #expect(updated.event == "updated", "after \(took)")
            #expect(!told.dropFirst().dropLast().contains { $0 != "updated" }, "\(told) after \(took)")
        }
        // Where it never was, this machine is too busy to show it.
    }

    @Test("a name that another host has becomes tony #2, on stdout; with --on-conflict fail the status is 73")
    func conflict() async throws {
        let lab = try await Self.lab.value
        let first = try await lab.publish("h1", "tony", "9000", "--type", "_same._tcp")
        let second = try lab.discoverd("h2", "publish", "tony", "9001", "--type", "_same._tcp")
        let said = try await second.line(.stdout, "published") { $0.hasPrefix("published ") }
        #expect(said.contains(#"tony\032#2"#) || said.contains("tony #2"), "\(said)")
        let third = try lab.discoverd("h2", "publish", "tony", "9002", "--type", "_same._tcp", "--json")
        let line = try await third.json("established") { $0.event == "published" && $0.state == "established" }
        #expect(line.name == "tony #3" && line.wanted == "tony" && line.port == 9002)
        #expect(line.type == "_same._tcp" && line.domain == "local")

        let list = try await lab.ask("h2", "browse", "_same._tcp", "-r", "-t", "--json")
        let seen = try list.lines().compactMap(\.service)
        #expect(Set(seen.map(\.name)) == ["tony", "tony #2", "tony #3"] && seen.count == 3, "\(list)")
        #expect(seen.first { $0.name == "tony" }?.host == "h1.local")

        let refused = try await lab.ask(
            "h2", "publish", "tony", "9003", "--type", "_same._tcp", "--on-conflict", "fail")
        #expect(refused.exit == .exited(73) && refused.output.isEmpty)
        #expect(refused.failure?.hasPrefix("discoverd: error: ") == true && refused.failure?.contains("tony") == true)
        // The same on the host that owns the name: Avahi reports it immediately, without probing.
        let local = try await lab.ask("h1", "publish", "tony", "9003", "--type", "_same._tcp", "--on-conflict", "fail")
        #expect(local.exit == .exited(73))
        for process in [first, second, third] { try await process.stop() }
    }

    @Test("500 services of another program are told once each, one run after the other", .labAlone)
    func fiveHundred() async throws {
        // Not the others': an avahi-daemon that says goodbye for 500 services answers no one for seconds on a busy machine.
        let lab = try await Lab.start()
        let publisher = try lab.exec("h1", Lab.publishMany, "500", "many", "_many._tcp")
        try await publisher.line(.stdout, within: .seconds(60), "ready") { $0 == "ready 500" }
        let names = (0..<500).map { "many-" + String(repeating: "0", count: 4 - "\($0)".count) + "\($0)" }
        var complete = 0
        for run in 1...24 where complete < 2 {
            let seen = try await lab.ask(
                "h2", "browse", "_many._tcp", "-r", "-t", "--timeout", "30", "--json", within: .seconds(35))
            #expect(seen.exit == .exited(0))
            let lines = try seen.lines()
            let told = lines.filter { $0.event == "added" }.compactMap { $0.service?.name }.sorted()
            #expect(Set(told).count == told.count, "run \(run)")
            // A busy machine loses packets, and the list says so.
            if lines.contains(where: { $0.event == "degraded" }) { continue }
            complete += 1
            #expect(told == names, "run \(run)")
            #expect(
                lines.count == 501 && lines.last?.event == "settled",
                "run \(run): \(seen.output.filter { !$0.contains(#""added""#) })")
            let unresolved = lines.compactMap(\.service).filter {
                $0.state != "resolved" || $0.port != 9000 || $0.endpoints?.count != 2
            }
            #expect(unresolved.isEmpty, "run \(run)")
        }
        #expect(complete == 2)
        try await publisher.stop()
        try await lab.stop()
    }
}
