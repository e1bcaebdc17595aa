import Foundation
import Testing

extension FaultTests {
    @Suite("Faults of publishers")
    struct PublisherFaultTests {
        @Test(
            "34: the publishing process is killed: the other host sees the end soon",
            .enabled(if: !Lab.publishesOnWire, "avahi-daemon does it"))
        func crashed() async throws {
            let lab = try await Lab.start()
            var (publications, browser, _) = try await lab.published(20)
            let raw = try lab.exec("h2", "avahi-browse", "-p", Lab.type)
            for _ in 0..<20 { try await raw.line { $0.hasPrefix("+;eth0;IPv4;") } }
            publications.process.signal(SIGKILL)
            let start = ContinuousClock.now
            try await raw.line(within: .seconds(3)) { $0.hasPrefix("-;eth0;IPv4;") }
            let seen = start.duration(to: .now)
            let told = try await browser.wait(for: "the end", within: .milliseconds(4_500)) { $0.names.isEmpty }
            #expect(seen < .milliseconds(1_500))
            publications = try lab.publish(20, on: "h1")
            try await browser.wait(for: "back", within: .seconds(5)) { $0.names == Lab.names(20) }
            Figures(
                scenario: "34",
                what: "publisher SIGKILL, 20 services",
                recovery: seen,
                note: "Avahi's REMOVE on the other host; `removed` \((told + seen).seconds) after the end"
            ).record()
            try await lab.stop()
        }

        @Test("34, 68: the publishing command is killed and started again at once: no end is told")
        func crashedAndRestarted() async throws {
            let lab = try await Lab.start()
            var command = try lab.publish("tony", on: "h1")
            try await command.wait(forEstablished: ["tony"], within: .seconds(5))
            var browser = try lab.browse(on: "h2", "-r")
            try await browser.wait(for: "seen", within: .seconds(5)) { $0.names == ["tony"] }
            command.process.signal(SIGKILL)
            #expect(try await command.process.exit() == .signalled(SIGKILL))
            var next = try lab.publish("tony", on: "h1")
            let recovery = try await next.wait(forEstablished: ["tony"], within: .seconds(3))
            try await Task.sleep(for: Lab.hold)
            try await lab.sentinel(&browser)
            let removed = browser.lines.count { $0.event == "removed" && $0.service?.name != "sentinel" }
            // A goodbye gives others a second (RFC 6762 section 10.1): where the machine took longer to publish again, an end is true.
            #expect(removed == 0 || recovery >= .seconds(1), "again after \(recovery)")
            Figures(
                scenario: "68",
                what: "publish killed as by the OOM killer, started again",
                recovery: recovery,
                flaps: removed
            ).record()
            try await lab.stop()
        }

        @Test("35: the publisher's host vanishes: unreachable when its records have run out")
        func vanished() async throws {
            let lab = try await Lab.start(hosts: 3)
            // TTLs in Avahi's proportions (4500 s for PTR, less for the rest), but of seconds: 6 s for SRV and A.
            let records = """
                {"records":[
                {"name":"\(Lab.type).local","type":"PTR","target":["gone","_fault","_tcp","local"],"ttl":4500},
                {"name":["gone","_fault","_tcp","local"],"type":"SRV","port":9000,"target":"vanisher.local","ttl":6},
                {"name":["gone","_fault","_tcp","local"],"type":"TXT","strings":["a=b"],"ttl":6},
                {"name":"vanisher.local","type":"A","address":"10.77.0.3","ttl":6}]}
                """.replacingOccurrences(of: "\n", with: "")
            let injector = try lab.python("h3", "inject.py", "--interval", "3", records)
            try await injector.line { $0 == "ready" }
            var browser = try lab.browse(on: "h2", "-r")
            try await browser.wait(for: "seen", within: .seconds(5)) { $0.present["gone"]?.state == "resolved" }
            try await lab.run("sw", "ip", "link", "set", "p3", "nomaster")
            let told = try await browser.wait(for: "unreachable", within: .seconds(18)) { log in
                log.present["gone"]?.state == "unreachable"
            }
            #expect(browser.count("removed") == 0)
            try await lab.run("sw", "ip", "link", "set", "p3", "master", "br0")
            let back = try await browser.wait(for: "back", within: .seconds(10)) {
                $0.present["gone"]?.state == "resolved"
            }
            Figures(
                scenario: "35",
                what: "publisher's host vanishes, records of 6 s",
                recovery: back,
                flaps: browser.count("removed"),
                note: "`unreachable` after \(told.seconds), 6 s of them TTL"
            ).record()
            try await lab.stop()
        }

        @Test(
            "37: services come and go 100 times a second with TTL 1 and 0: no more than one event a second each",
            .onlyInAll)
        func flapping() async throws {
            let lab = try await Lab.start(hosts: 3)
            var browser = try lab.browse(on: "h2", "-r")
            let before = ProcessUsage(browser.process.pid)
            let duration = 10.0
            let flapper = try lab.python("h3", "flap.py", "5", "100", "\(duration)")
            try await flapper.line(within: .seconds(20)) { $0.hasPrefix("flapped") }
            let after = ProcessUsage(browser.process.pid)
            let names = Set((0..<5).map { "flap-\($0)" })
            let recovery = try await browser.wait(for: "all there", within: .seconds(10)) { $0.names == names }
            let most = names.map { name in browser.lines.count { $0.service?.name == name } }.max() ?? 0
            let load = (after.seconds - before.seconds) / duration
            #expect(Double(most) <= duration + 3 && load < 0.2)
            Figures(
                scenario: "37",
                what: "5 services flap at 100 Hz for 10 s",
                recovery: recovery,
                flaps: browser.count("removed"),
                note: String(format: "at most %d events each, %.0f %% of a core", most, load * 100)
            ).record()
            try await lab.stop()
        }

        @Test("38: SIGTERM while registering: over within 2 s with 0, and nothing stays", arguments: [1, 2])
        func terminatedEarly(signals: Int) async throws {
            let lab = try await Lab.start()
            let watcher = try lab.exec("h2", "avahi-browse", "-p", Lab.type)
            var commands = try (0..<5).map { try lab.publish("c-\($0)", on: "h1") }
            for index in commands.indices {
                try await commands[index].wait(for: "registering", within: .seconds(3)) { !$0.lines.isEmpty }
            }
            let start = ContinuousClock.now
            for _ in 0..<signals { for command in commands { command.process.signal(SIGTERM) } }
            for command in commands { #expect(try await command.process.exit(within: .seconds(2)) == .exited(0)) }
            let ended = start.duration(to: .now)
            // Nothing of them is left: what was announced is withdrawn, and the names are free.
            var again = try lab.publish("c-0", on: "h1")
            try await again.wait(forEstablished: ["c-0"], within: .seconds(3))
            try await watcher.line(within: .seconds(3)) {
                $0.hasPrefix("+;eth0;IPv4;c-0") || $0.contains("IPv4;c\\0450")
            }
            // What a goodbye ends stays for a second (RFC 6762 §10.1).
            var left: [String] = []
            let looked = ContinuousClock.now
            while looked.duration(to: .now) < .seconds(4) {
                let lines = try await lab.run("h2", "avahi-browse", "-pt", Lab.type, within: .seconds(5))
                left = lines.filter { $0.hasPrefix("+;eth0;IPv4") }
                if left.count == 1 { break }
            }
            #expect(left.count == 1, "\(left)")
            Figures(scenario: "38", what: "SIGTERM × \(signals) while registering", note: "over after \(ended.seconds)")
                .record()
            try await lab.stop()
        }

        @Test(
            "42: a PTR record with the cache-flush bit, which RFC 6762 §10.2 forbids, empties nobody's list",
            .enabled(if: Lab.isOnWire, "avahi-daemon takes the other services of the type from its cache"))
        func flushingPointer() async throws {
            let lab = try await Lab.start(hosts: 3)
            var (_, browser, names) = try await lab.published(10)
            let pointer = """
                {"records":[{"name":"\(Lab.type).local","type":"PTR","target":["flusher","_fault","_tcp","local"],"flush":true}]}
                """
            let flusher = try await lab.inject("h3", pointer)
            try await browser.wait(for: "the flusher", within: .seconds(10)) { $0.names.contains("flusher") }
            try await lab.expectNoEnds(in: &browser, of: names)
            Figures(
                scenario: "42",
                what: "a PTR record with the cache-flush bit every second, 10 services",
                flaps: browser.count("removed")
            ).record()
            flusher.signal(SIGKILL)
            try await lab.stop()
        }

        @Test("50: announced without SRV: told in time, asked for again and again, resolved when it answers")
        func noAnswer() async throws {
            let lab = try await Lab.start(hosts: 3)
            let pointer = """
                {"name":"\(Lab.type).local","type":"PTR","target":["mute","_fault","_tcp","local"],"ttl":120}
                """
            let mute = try lab.python("h3", "inject.py", "{\"records\":[\(pointer)]}")
            try await mute.line { $0 == "ready" }
            var browser = try lab.browse(on: "h2", "-r")
            let told = try await browser.wait(for: "told unresolved", within: .seconds(8)) { $0.names == ["mute"] }
            #expect(browser.present["mute"]?.state == "found" && told > .seconds(3))
            mute.signal(SIGKILL)
            let service = "{\"instance\":\"mute\",\"type\":\"\(Lab.type)\",\"host\":\"late\",\"txt\":[\"a=b\"]}"
            let answering = try lab.python("h3", "inject.py", "{\"services\":[\(service)]}")
            try await answering.line { $0 == "ready" }
            let recovery = try await browser.wait(for: "resolved", within: .seconds(15)) { log in
                log.present["mute"]?.state == "resolved"
            }
            Figures(
                scenario: "50",
                what: "announced without SRV, which comes later",
                recovery: recovery,
                note: "told as found after \(told.seconds)"
            ).record()
            try await lab.stop()
        }
    }
}
