import Foundation
import Testing

extension FaultTests {
    @Suite("Faults of the backend")
    struct BackendFaultTests {
        @Test(
            "1: avahi-daemon SIGKILL and back after 1 s, 100 services of one process",
            .enabled(if: !Lab.publishesOnWire, "avahi-daemon is the publisher"))
        func killed() async throws {
            let lab = try await Lab.start()
            var (publications, browser, names) = try await lab.published(100)
            try await lab.avahi("h1", "kill")
            try await publications.wait(for: "the loss noticed", within: .seconds(2)) { $0.established.isEmpty }
            // The duration of the fault is part of the scenario, here and below.
            try await Task.sleep(for: .seconds(1))
            try await lab.avahi("h1", "start")
            let recovery = try await publications.wait(forEstablished: names, within: .seconds(3))
            try await lab.expectNoEnds(in: &browser, of: names)
            Figures(
                scenario: "1",
                what: "avahi-daemon SIGKILL, back after 1 s, 100 services",
                recovery: recovery,
                flaps: browser.count("removed")
            ).record()
            try await lab.stop()
        }

        @Test(
            "1: the same with ten publish commands, avahi-daemon back after 3 s", .onlyInAll,
            .enabled(if: !Lab.publishesOnWire, "avahi-daemon is the publisher"))
        func killedUnderCommands() async throws {
            let lab = try await Lab.start()
            var commands = try (0..<10).map { try lab.publish("c-\($0)", on: "h1") }
            var browser = try lab.browse(on: "h2", "-r")
            let names = Set((0..<10).map { "c-\($0)" })
            try await browser.wait(for: "all seen", within: .seconds(10)) { $0.names == names }
            try await lab.avahi("h1", "kill")
            // Longer than a command waits for a backend that it has never seen.
            try await Task.sleep(for: .seconds(3))
            try await lab.avahi("h1", "start")
            let start = ContinuousClock.now
            for index in commands.indices {
                try await commands[index].wait(for: "back", within: .seconds(3)) { log in
                    log.lines.count { $0.state == "established" } == 2
                }
            }
            let recovery = start.duration(to: .now)
            #expect(recovery < .seconds(3))
            try await lab.expectNoEnds(in: &browser, of: names)
            Figures(
                scenario: "1",
                what: "avahi-daemon SIGKILL, back after 3 s, 10 `publish` commands",
                recovery: recovery,
                flaps: browser.count("removed")
            ).record()
            for command in commands { command.process.signal(SIGTERM) }
            for command in commands { #expect(try await command.process.exit() == .exited(0)) }
            try await lab.stop()
        }

        @Test(
            "3: avahi-daemon SIGTERM and restart: its goodbyes are not told, not even those of a part of it, after its link was down",
            arguments: [false, true])
        func terminated(whileProbing: Bool) async throws {
            let lab = try await Lab.start()
            var (publications, browser, names) = try await lab.published(20)
            if whileProbing {
                try await lab.run("h1", "ip", "link", "set", "eth0", "down")
                try await lab.run("h1", "ip", "link", "set", "eth0", "up")
            }
            try await lab.avahi("h1", "term")
            try await lab.avahi("h1", "start")
            let recovery = try await publications.wait(forEstablished: names, within: .seconds(3))
            try await lab.expectNoEnds(in: &browser, of: names)
            Figures(
                scenario: "3",
                what: (whileProbing ? "link down and up, then " : "") + "avahi-daemon SIGTERM and restart, 20 services",
                recovery: recovery,
                flaps: browser.count("removed")
            ).record()
            try await lab.stop()
        }

        @Test(
            "4: dbus-daemon SIGKILL and restart, 100 services; the browser's own bus too",
            .enabled(if: !Lab.publishesOnWire, "avahi-daemon is the publisher"))
        func busKilled() async throws {
            let lab = try await Lab.start()
            var (publications, browser, names) = try await lab.published(100)
            try await lab.dbus("h1", "kill")
            try await publications.wait(for: "the loss noticed", within: .seconds(2)) { $0.established.isEmpty }
            try await lab.dbus("h1", "start")
            try await lab.startAvahiAgain("h1")
            let recovery = try await publications.wait(forEstablished: names, within: .seconds(5))
            // Debian's avahi-daemon ends with its bus, with goodbyes; how long it was away decides what is reported.
            try await browser.wait(for: "all back", within: .seconds(5)) { $0.names == names }
            let flaps = browser.count("removed")

            try await lab.dbus("h2", "kill")
            if !Lab.isOnWire {
                try await browser.wait(for: "lost", within: .seconds(2)) { $0.lines.last?.state == "lost" }
            }
            try await lab.dbus("h2", "start")
            try await lab.startAvahiAgain("h2")
            let start = ContinuousClock.now
            if !Lab.isOnWire {
                try await browser.wait(for: "recovered", within: .seconds(5)) { log in
                    log.lines.contains { $0.state == "recovered" }
                }
            }
            let browserRecovery = start.duration(to: .now)
            // Only waiting as long as an end may be held back shows that none is reported.
            try await Task.sleep(for: Lab.hold)
            try await lab.sentinel(&browser)
            #expect(browser.count("removed") == flaps && browser.names.isSuperset(of: names))
            #expect(browser.lines.contains { $0.event == "backend" } != Lab.isOnWire)
            Figures(
                scenario: "4",
                what: "dbus-daemon SIGKILL, both back at once, 100 services",
                recovery: recovery,
                flaps: flaps,
                note: "browser's own bus: \(browserRecovery.seconds), nothing removed"
            ).record()
            try await lab.stop()
        }

        @Test(
            "5: avahi-daemon absent at the start", .onlyInAll,
            .enabled(if: !Lab.publishesOnWire, "avahi-daemon is the publisher"))
        func absentAtStart() async throws {
            let lab = try await Lab.start(hosts: 2, "--no-avahi", "h1")
            var publications = try lab.publish(20, on: "h1")
            try await publications.wait(for: "waiting", within: .seconds(3)) { log in
                log.latest.count == 20 && log.latest.values.allSatisfy { $0.state == "waiting" }
            }
            #expect(publications.latest.values.allSatisfy { $0.reason == "avahi-daemon is not running" })
            // It stays away for longer than the first connection attempts take.
            try await Task.sleep(for: .seconds(2))
            try await lab.avahi("h1", "start")
            let recovery = try await publications.wait(forEstablished: Lab.names(20), within: .seconds(2))
            Figures(scenario: "5", what: "avahi-daemon absent, started later, 20 services", recovery: recovery).record()
            try await lab.stop()
        }

        @Test(
            "6: neither bus nor avahi-daemon: no busy loop, and the commands say so with 69",
            .enabled(if: !Lab.publishesOnWire, "avahi-daemon is the publisher"))
        func nothingThere() async throws {
            let lab = try await Lab.start(hosts: 1)
            try await lab.dbus("h1", "kill")
            try await lab.run("h1", "rm", "-f", "/run/dbus/system_bus_socket")
            var publications = try lab.publish(1, on: "h1")
            try await publications.wait(for: "waiting", within: .seconds(3)) {
                $0.latest.first?.value.state == "waiting"
            }
            let before = ProcessUsage(publications.process.pid)
            let began = ContinuousClock.now
            let browse = [Built.discoverd, "browse", Lab.type, "--avahi", "always", "--finder", "avahi"]
            let command = try lab.exec("h1", browse)
            #expect(try await command.exit(within: .seconds(4)) == .exited(69))
            // Measures a share of the time: the longer, the finer the ticks of 10 ms.
            try await Task.sleep(for: .seconds(3))
            let after = ProcessUsage(publications.process.pid)
            let load = (after.seconds - before.seconds) / ((ContinuousClock.now - began) / .seconds(1))
            #expect(load < 0.02)
            // A connection attempt may be under way at either time; a leak would add one per attempt.
            #expect(after.descriptors <= before.descriptors + 2)

            try await lab.dbus("h1", "start")
            try await lab.startAvahiAgain("h1")
            let recovery = try await publications.wait(forEstablished: Lab.names(1), within: .seconds(5))
            Figures(
                scenario: "6",
                what: "no bus at the start, started later",
                recovery: recovery,
                note: String(format: "%.1f %% of a core while waiting", load * 100)
            ).record()
            try await lab.stop()
        }

        @Test(
            "7: avahi-daemon SIGSTOP: Ctrl-C and SIGTERM end browse and publish within 2 s",
            arguments: [SIGINT, SIGTERM])
        func stoppedAndInterrupted(signal: Int32) async throws {
            let lab = try await Lab.start(hosts: 1)
            var publication = try lab.publish("old", on: "h1")
            try await publication.wait(forEstablished: ["old"], within: .seconds(5))
            let browse = [Built.discoverd, "browse", Lab.type, "-r", "--json"] + Lab.finder
            let watching = BrowseLog(try lab.exec("h1", browse))
            var log = watching
            try await log.wait(for: "seen", within: .seconds(5)) { $0.names == ["old"] }
            try await lab.avahi("h1", "stop")
            // Commands begun earlier hang at their end; those begun now hang at their start.
            let late = try lab.exec("h1", browse)
            let latePublication = try lab.publish("new", on: "h1")
            for process in [late, latePublication.process] { try await process.untilItTakesSignals() }
            // Wait until they are inside the hanging calls, which nothing reports.
            try await Task.sleep(for: .milliseconds(500))
            let processes = [publication.process, watching.process, late, latePublication.process]
            let start = ContinuousClock.now
            var slowest = Duration.zero
            for process in processes { process.signal(signal) }
            for process in processes {
                #expect(try await process.exit(within: .seconds(2)) == .exited(0))
                slowest = max(slowest, start.duration(to: .now))
            }
            #expect(slowest < .seconds(2))
            try await lab.avahi("h1", "cont")
            Figures(
                scenario: "7",
                what: "avahi-daemon SIGSTOP, signal \(signal) to browse and publish",
                note: "the slowest ended after \(slowest.seconds)"
            ).record()
            try await lab.stop()
        }

        @Test("7, 8: avahi-daemon, then dbus-daemon, SIGSTOP for 4 s, then CONT", arguments: ["avahi", "dbus"])
        func stoppedForAWhile(daemon: String) async throws {
            let lab = try await Lab.start()
            var (publications, browser, names) = try await lab.published(20)
            for host in ["h1", "h2"] { try await lab.lab(daemon, host, "stop") }
            var late = try lab.publish("late", on: "h1")
            try await Task.sleep(for: .seconds(4))
            for host in ["h1", "h2"] { try await lab.lab(daemon, host, "cont") }
            let recovery = try await late.wait(forEstablished: ["late"], within: .seconds(5))
            try await browser.wait(for: "the late one", within: .seconds(5)) { $0.names == names.union(["late"]) }
            try publications.catchUp()
            #expect(publications.established == names && browser.count("removed") == 0)
            Figures(
                scenario: daemon == "avahi" ? "7" : "8",
                what: "\(daemon)-daemon SIGSTOP for 4 s on both hosts, published meanwhile",
                recovery: recovery,
                flaps: browser.count("removed")
            ).record()
            try await lab.stop()
        }

        @Test("9: avahi-daemon is killed again and again: nothing grows, and it ends established", .onlyInAll)
        func crashLoop() async throws {
            let lab = try await Lab.start()
            var (publications, browser, names) = try await lab.published(20)
            let before = ProcessUsage(publications.process.pid)
            for _ in 0..<6 {
                try await lab.avahi("h1", "kill")
                try await publications.wait(for: "the loss noticed", within: .seconds(2)) { $0.established.isEmpty }
                try await lab.avahi("h1", "start")
                try await publications.wait(for: "tried", within: .seconds(5)) { log in
                    log.latest.values.contains { $0.state != "waiting" }
                }
            }
            let recovery = try await publications.wait(forEstablished: names, within: .seconds(31))
            let after = ProcessUsage(publications.process.pid)
            #expect(after.descriptors == before.descriptors && after.threads <= before.threads + 1)
            #expect(after.kilobytes < before.kilobytes + 4_096)
            try await lab.expectNoEnds(in: &browser, of: names)
            Figures(
                scenario: "9",
                what: "avahi-daemon SIGKILL 6 times in a row, 20 services",
                recovery: recovery,
                flaps: browser.count("removed"),
                note: "\(after.descriptors - before.descriptors) descriptors, "
                    + "\(after.kilobytes - before.kilobytes) kB more"
            ).record()
            try await lab.stop()
        }

        @Test("69: everything SIGSTOP for 8 s, then CONT", .onlyInAll)
        func suspended() async throws {
            try await SuspendedMachine.run(for: .seconds(8))
        }
    }
}
