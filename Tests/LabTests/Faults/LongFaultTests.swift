import Foundation
import Testing

extension SoakTests {
    @Suite("Faults that take minutes", .serialized)
    struct LongFaultTests {
        @Test(
            "1: 1000 and 1500 services in one process",
            .enabled(if: !Lab.publishesOnWire, "avahi-daemon is the publisher"), arguments: [1_000, 1_500])
        func thousand(count: Int) async throws { try await ManyServices.run(count) }

        @Test(
            "2: avahi-daemon away for 150 s, longer than the TTL of SRV: unreachable, then there again",
            .enabled(if: !Lab.publishesOnWire, "avahi-daemon is the publisher"))
        func longAbsence() async throws {
            let lab = try await Lab.start()
            var (publications, browser, names) = try await lab.published(20)
            try await lab.avahi("h1", "kill")
            let stale = try await browser.wait(for: "unreachable", within: .seconds(150)) { log in
                log.present.values.allSatisfy { $0.state == "unreachable" }
            }
            try await Task.sleep(for: .seconds(150) - stale)
            try await lab.avahi("h1", "start")
            let recovery = try await publications.wait(forEstablished: names, within: .seconds(5))
            try await browser.wait(for: "resolved again", within: .seconds(65)) { log in
                log.names == names && log.present.values.allSatisfy { $0.state == "resolved" }
            }
            #expect(browser.count("removed") == 0)
            Figures(
                scenario: "2",
                what: "avahi-daemon away for 150 s, 20 services",
                recovery: recovery,
                flaps: browser.count("removed"),
                note: "`unreachable` after \(stale.seconds)"
            ).record()
            try await lab.stop()
        }

        @Test("7: avahi-daemon SIGSTOP for 40 s, longer than D-Bus waits, while something is published")
        func longStop() async throws {
            let lab = try await Lab.start()
            var (publications, browser, names) = try await lab.published(20)
            var late = try lab.publish(1, on: "h1", prefix: "early")
            try await late.wait(forEstablished: Lab.names(1, prefix: "early"), within: .seconds(5))
            for host in ["h1", "h2"] { try await lab.avahi(host, "stop") }
            late = try lab.publish(3, on: "h1", prefix: "late")
            try await Task.sleep(for: .seconds(40))
            for host in ["h1", "h2"] { try await lab.avahi(host, "cont") }
            let recovery = try await late.wait(forEstablished: Lab.names(3, prefix: "late"), within: .seconds(65))
            try await browser.wait(for: "all", within: .seconds(10)) { log in
                log.names.isSuperset(of: names.union(Lab.names(3, prefix: "late")))
            }
            try publications.catchUp()
            #expect(publications.established == names && browser.count("removed") == 0)
            Figures(
                scenario: "7",
                what: "avahi-daemon SIGSTOP for 40 s, 3 services published meanwhile",
                recovery: recovery,
                flaps: browser.count("removed")
            ).record()
            try await lab.stop()
        }

        @Test("9: avahi-daemon is killed every 2 s, twenty times")
        func longCrashLoop() async throws {
            let lab = try await Lab.start()
            var (publications, _, names) = try await lab.published(20)
            let before = ProcessUsage(publications.process.pid)
            for _ in 0..<20 {
                try await lab.avahi("h1", "kill")
                try await lab.avahi("h1", "start")
                try await Task.sleep(for: .seconds(2))
            }
            let recovery = try await publications.wait(forEstablished: names, within: .seconds(31))
            let after = ProcessUsage(publications.process.pid)
            #expect(after.descriptors == before.descriptors && after.kilobytes < before.kilobytes + 4_096)
            Figures(scenario: "9", what: "avahi-daemon SIGKILL every 2 s, 20 times", recovery: recovery).record()
            try await lab.stop()
        }

        @Test("33: the network cut for 10 min", .timeLimit(.minutes(60)))
        func longPartition() async throws {
            let lab = try await Lab.start()
            var (publications, browser, names) = try await lab.published(20)
            try await lab.run("sw", "ip", "link", "set", "p1", "nomaster")
            try await Task.sleep(for: .seconds(600))
            try browser.catchUp()
            // The PTR record lives for 75 min, SRV for 2.
            #expect(browser.names == names && browser.present.values.allSatisfy { $0.state == "unreachable" })
            try await lab.run("sw", "ip", "link", "set", "p1", "master", "br0")
            let recovery = try await browser.wait(for: "resolved again", within: .seconds(65)) { log in
                log.names == names && log.present.values.allSatisfy { $0.state == "resolved" }
            }
            try publications.catchUp()
            #expect(publications.established == names && browser.count("removed") == 0)
            Figures(scenario: "33", what: "the network cut for 10 min, 20 services", recovery: recovery).record()
            try await lab.stop()
        }

        @Test(
            "24 lists of 500 services beside two busy processes, ten times: each is complete, or says that it may not be"
        )
        func lists() async throws {
            let lab = try await Lab.start("--no-avahi", "h2")
            let publisher = try lab.exec("h1", Lab.publishMany, "500", "many", "_many._tcp")
            try await publisher.line(.stdout, within: .seconds(60), "ready") { $0 == "ready 500" }
            let busy = try (0..<2).map { _ in try lab.exec("h2", ["sh", "-c", "while :; do :; done"]) }
            var (complete, degraded) = (0, 0)
            for round in 1...10 {
                let lists = try (0..<24).map { _ in
                    try lab.discoverd(
                        "h2", "browse", "_many._tcp", "-t", "--json", "--no-daemon", "--finder", "wire")
                }
                for list in lists {
                    _ = try await list.exit(within: .seconds(60))
                    let lines = try list.lines().map { try Line($0) }
                    let names = Set(lines.filter { $0.event == "added" }.compactMap { $0.service?.name })
                    if names.count == 500 {
                        complete += 1
                    } else if lines.contains(where: { $0.event == "degraded" }) {
                        degraded += 1
                    } else {
                        Issue.record("round \(round): \(names.count) of 500, and settled")
                    }
                }
            }
            Figures(
                scenario: "–", what: "24 lists of 500 services beside two busy processes, ten times",
                note: "\(complete) of 240 complete, \(degraded) short and degraded"
            ).record()
            for process in busy { process.signal(SIGKILL) }
            try await publisher.stop()
            try await lab.stop()
        }

        @Test("69: everything SIGSTOP for 5 min")
        func longSuspension() async throws { try await SuspendedMachine.run(for: .seconds(300)) }

        /// How long a scenario lasts that has no end of its own.
        private static func minutes(_ usual: Int) -> Int {
            ProcessInfo.processInfo.environment["SOAK_MINUTES"].flatMap(Int.init) ?? usual
        }

        @Test("42: malformed packets for 10 min: discoverd lives, avahi-daemon's deaths are counted")
        func malformed() async throws {
            let lab = try await Lab.start(hosts: 3)
            var (publications, browser, names) = try await lab.published(10)
            var first = try await lab.avahi("h2", "pid")
            let minutes = Self.minutes(10)
            let fuzzer = try lab.python("h3", "fuzz.py", "\(60 * minutes)", Lab.type)
            var deaths = 0
            let end = ContinuousClock.now + .seconds(60 * minutes + 2)
            while ContinuousClock.now < end {
                try await Task.sleep(for: .seconds(1))
                for host in ["h1", "h2"] where (try? await lab.avahi(host, "pid")) == nil {
                    deaths += 1
                    try await lab.avahi(host, "start")
                }
            }
            #expect(try await fuzzer.exit(within: .seconds(10)) == .exited(0))
            try await publications.wait(forEstablished: names, within: .seconds(31))
            try await browser.wait(for: "the real ones", within: .seconds(20)) { $0.names.isSuperset(of: names) }
            first = try await lab.avahi("h2", "pid")
            #expect(!first.isEmpty)
            browser.process.signal(SIGTERM)
            #expect(try await browser.process.exit() == .exited(0))
            Figures(
                scenario: "42",
                what: "malformed packets for \(minutes) min",
                flaps: browser.lines.count { $0.event == "removed" && names.contains($0.service?.name ?? "") },
                note: "avahi-daemon died \(deaths) times, discoverd never; " + fuzzer.lines().joined(separator: " ")
            ).record()
            try await lab.stop()
        }

        @Test(
            "an hour of services that come and go, and a watcher of the daemon: its memory stays",
            .timeLimit(.minutes(90)))
        func watchedChurn() async throws {
            let lab = try await Lab.start(hosts: 3)
            let daemon = try await LabDaemon.start(on: "h1", of: lab, "browse: [\(Lab.type)]\n")
            let watcher = try lab.exec(
                "h1",
                [
                    "curl", "-sN", "-o", "/dev/null", "--unix-socket", LabDaemon.systemSocket,
                    "http://localhost/v1/services/watch?type=\(Lab.type)",
                ])
            let minutes = Self.minutes(60)
            let churn = try lab.exec(
                "h3", [Lab.python, "-c", Self.churn, Lab.scripts, "\(60 * minutes)", Lab.type],
                environment: ["PYTHONDONTWRITEBYTECODE": "1"])
            try await churn.line(within: .seconds(120), "the first 500") { $0 == "500" }
            let before = ProcessUsage(try daemon.process.pid)
            #expect(try await churn.exit(within: .seconds(60 * minutes + 60)) == .exited(0))
            let after = ProcessUsage(try daemon.process.pid)
            #expect(after.kilobytes < before.kilobytes + 8_192, "\(before.kilobytes) → \(after.kilobytes) kB")
            Figures(
                scenario: "–", what: "\(minutes) min of ten new services a second, and a watcher",
                note: "daemon \(before.kilobytes) → \(after.kilobytes) kB; \(churn.lines().last ?? "") came and went"
            ).record()
            watcher.signal(SIGKILL)
            try await daemon.stop()
            try await lab.stop()
        }

        /// Ten new services a second, each withdrawn ten seconds later.
        private static let churn = """
            import sys, time
            sys.path.insert(0, sys.argv[1])
            import mdns
            seconds, kind = float(sys.argv[2]), sys.argv[3]
            udp, group = mdns.open_socket("4", mdns.socket.if_nametoindex("eth0"))
            def say(n, ttl=None):
                records = mdns.service_records({"instance": f"churn-{n}", "type": kind, "host": f"host-{n}", "txt": ["a=b"]})
                for packet in mdns.packets(records, ttl):
                    udp.sendto(packet, group)
            start, n = time.monotonic(), 0
            while time.monotonic() < start + seconds:
                say(n)
                if n >= 100:
                    say(n - 100, 0)
                n += 1
                if n == 500:
                    print(n, flush=True)
                time.sleep(max(0, start + n / 10 - time.monotonic()))
            print(n, flush=True)
            """

        @Test("70: 30 min of 1 % loss, churn, link flaps and a killed avahi-daemon: nothing leaks, the sets are equal")
        func soak() async throws {
            let lab = try await Lab.start()
            let rules = """
                table inet faults {
                chain in {
                type filter hook input priority 0
                iifname "eth0" udp dport 5353 numgen random mod 100 < 1 drop
                }
                }
                """
            try await lab.nft("h2", rules)
            var (publications, browser, names) = try await lab.published(50)
            var before: [ProcessUsage] = []
            var round = 0
            let minutes = Self.minutes(30)
            let end = ContinuousClock.now + .seconds(60 * minutes)
            while ContinuousClock.now < end {
                // What is allocated once has been by then.
                if round == 2 { before = [ProcessUsage(publications.process.pid), ProcessUsage(browser.process.pid)] }
                for number in 0..<15 {
                    var churn = try lab.publish("churn-\(round)-\(number)", on: "h1")
                    try await churn.wait(for: "established", within: .seconds(10)) { !$0.established.isEmpty }
                    churn.process.signal(SIGTERM)
                    try await churn.process.exit()
                }
                if round % 3 == 0 {
                    try await lab.run("h1", "ip", "link", "set", "eth0", "down")
                    try await lab.run("h1", "ip", "link", "set", "eth0", "up")
                }
                if round % 4 == 1 { try await lab.avahi("h1", "restart") }
                try await publications.wait(forEstablished: names, within: .seconds(31))
                try await browser.wait(for: "the lasting ones", within: .seconds(30)) {
                    $0.names.isSuperset(of: names)
                }
                round += 1
            }
            // A goodbye is sent only once: if it is lost, the service stays listed until its SRV record expires as well.
            try await browser.wait(for: "equal sets", within: .seconds(150)) { log in
                log.present.allSatisfy { names.contains($0.key) == ($0.value.state == "resolved") }
            }
            let stale = browser.names.subtracting(names).count
            let after = [ProcessUsage(publications.process.pid), ProcessUsage(browser.process.pid)]
            try #require(before.count == 2)
            for (before, after) in zip(before, after) {
                #expect(after.descriptors == before.descriptors && after.kilobytes < before.kilobytes + 4_096)
            }
            let flaps = browser.lines.count { $0.event == "removed" && names.contains($0.service?.name ?? "") }
            #expect(flaps == 0)
            Figures(
                scenario: "70",
                what:
                    "\(minutes) min of 1 % loss, \(15 * round) services come and go, links flap, avahi-daemon restarts",
                flaps: flaps,
                note:
                    "\(after[1].kilobytes - before[1].kilobytes) kB more in browse, \(stale) whose goodbye was lost unreachable"
            ).record()
            try await lab.stop()
        }
    }
}
