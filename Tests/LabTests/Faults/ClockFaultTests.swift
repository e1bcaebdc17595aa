import Foundation
import Glibc
import Testing

extension FaultTests {
    @Suite("Clock jumps")
    struct ClockFaultTests {
        @Test(
            "67: the clock of avahi-daemon jumps, on the browser's host or on the publisher's",
            arguments: Everything.of([6_000, -7_200], inAChange: [6_000]), ["h1", "h2"]
        )
        func jump(seconds: Int, host: String) async throws {
            let lab = try await Lab.start(environment: ["LAB_AVAHI_PRELOAD": Lab.clockOffset])
            var (publications, browser, names) = try await lab.published(20)
            try await lab.setClock(host, seconds)
            try await Task.sleep(for: .milliseconds(5_500))
            try browser.catchUp()
            try publications.catchUp()
            #expect(browser.count("removed") == 0 && browser.names == names)
            #expect(publications.established == names)
            // After a jump forwards, new services appear immediately. After one backwards, Avahi's timers are late by the jump.
            let start = ContinuousClock.now
            if seconds > 0 { try await lab.sentinel(&browser) }
            Figures(
                scenario: "67",
                what:
                    "clock of \(host == "h1" ? "the publisher's" : "the browser's") avahi-daemon jumps by \(seconds) s",
                recovery: seconds > 0 ? start.duration(to: .now) : nil,
                flaps: browser.lines.count { $0.event == "removed" && $0.service?.name != "sentinel" },
                note: "\(browser.count("updated")) updates"
            ).record()
            try await lab.stop()
        }

        @Test("67: the clock of avahi-daemon jitters by a second, once a second", .onlyInAll)
        func jitter() async throws {
            let lab = try await Lab.start(environment: ["LAB_AVAHI_PRELOAD": Lab.clockOffset])
            var (publications, browser, names) = try await lab.published(20)
            for round in 0..<8 {
                for host in ["h1", "h2"] { try await lab.setClock(host, round % 2) }
                try await Task.sleep(for: .seconds(1))
            }
            try await lab.sentinel(&browser)
            try publications.catchUp()
            let removed = browser.lines.count { $0.event == "removed" && $0.service?.name != "sentinel" }
            #expect(removed == 0 && browser.names.isSuperset(of: names) && publications.established == names)
            Figures(scenario: "67", what: "clocks of both avahi-daemons jitter by 1 s at 1 Hz for 8 s", flaps: removed)
                .record()
            try await lab.stop()
        }

        @Test(
            "67: the clocks of a host with the daemon jump by an hour: what it publishes and what it keeps warm stay",
            arguments: [3_600, -3_600]
        )
        func daemon(seconds: Int) async throws {
            let lab = try await Lab.start(environment: ["LAB_AVAHI_PRELOAD": Lab.clockOffset])
            let daemon = try await LabDaemon.start(
                on: "h1", of: lab, "browse: [\(Lab.type)]\n",
                environment: ["LD_PRELOAD": Lab.clockOffset, "CLOCK_OFFSET_FILE": "/run/lab/clock"])
            #expect(try await daemon.ask("publish", "kept", "9000", "--type", Lab.type, "--detach").exit == .exited(0))
            let there = try await lab.avahiPublish("h2", "there", Lab.type, "9001")
            let warm = "/v1/services?type=\(Lab.type)"
            _ = try await daemon.curl(warm) { try $0.objects("services").count == 2 }
            let browse = [Built.discoverd, "browse", Lab.type, "--json", "--no-daemon"]
            var seen = BrowseLog(try lab.exec("h2", browse + Lab.finder))
            try await seen.wait(for: "both", within: .seconds(20)) { $0.names == ["kept", "there"] }
            let watcher = try daemon.watch("/v1/services/watch?type=\(Lab.type)")
            try await watcher.watched("settled") { $0.event == "settled" }

            try await lab.setClock("h1", seconds)
            // Longer than an end is held back, and than the daemon's periodic work.
            try await Task.sleep(for: .seconds(12))
            try seen.catchUp()
            #expect(seen.count("removed") == 0)
            #expect(!watcher.lines().contains { WatchedLine($0)?.event == "removed" })
            #expect(try await daemon.curl(warm).objects("services").count == 2)
            #expect(try await daemon.registrations().map(\.state) == ["established"])
            #expect(try await daemon.ask("status").exit == .exited(0))
            // It works as before, and in time: new services are published, and ended ones disappear.
            #expect(try await daemon.ask("publish", "late", "9002", "--type", Lab.type, "--detach").exit == .exited(0))
            #expect(try await daemon.ask("unpublish", "late", Lab.type).exit == .exited(0))
            watcher.signal(SIGTERM)
            there.signal(SIGTERM)
            try await seen.process.stop()
            try await daemon.stop()
            try await lab.stop()
        }
    }
}

extension Lab {
    /// Sets how far the clock of a host's avahi-daemon is ahead of the machine's, and makes avahi-daemon look at it.
    func setClock(_ host: String, _ seconds: Int) async throws {
        let ask =
            "dbus-send --system --print-reply --dest=org.freedesktop.Avahi / org.freedesktop.Avahi.Server.GetState"
        try await run(
            host, "sh", "-c", "echo \(seconds) >/run/lab/clock.new; mv /run/lab/clock.new /run/lab/clock; \(ask)")
    }
}
