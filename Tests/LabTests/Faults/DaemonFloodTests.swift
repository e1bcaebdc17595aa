import Foundation
import Testing

extension FaultTests {
    /// Slow, silent, greedy and malformed local clients of the daemon, on a flooded network.
    @Suite("The daemon among hostile clients", .labAlone)
    struct DaemonFloodTests {
        @Test(
            "60 to 62: 64 slow clients, a watcher that never reads, 5000 services, 10 MB, random bytes: status answers")
        func hostileClients() async throws {
            let lab = try await Lab.start(hosts: 3)
            let daemon = try await LabDaemon.start(on: "h1", of: lab, "browse: [\(Lab.type)]\n")
            let target = "/v1/services/watch?type=\(Lab.type)"
            let watcher = try clients(lab, "watch", target)
            let slow = try clients(lab, "slow", "64", "600")
            for one in [watcher, slow] { try await one.line(within: .seconds(30), "ready") { $0 == "ready" } }
            let flooder = try lab.exec(
                "h3", [Lab.python, "-c", FloodTests.flooder, Lab.scripts, "5000", "800", "full", Lab.type],
                environment: ["PYTHONDONTWRITEBYTECODE": "1"])
            let noise = try clients(lab, "noise", "8", "4711")
            let body = try await lab.bash(
                "h1",
                "head -c 10000000 /dev/zero | curl -sS -o /dev/null -w '%{http_code}' --max-time 30 "
                    + "--unix-socket \(LabDaemon.systemSocket) --data-binary @- http://localhost/v1/registrations",
                within: .seconds(60))
            #expect(body.output == ["413"], "\(body)")

            let status = try clients(lab, "status", "100")
            #expect(try await status.exit(within: .seconds(120)) == .exited(0), "\(status.lines(.stderr))")
            let times = status.lines().compactMap(Double.init).sorted()
            try #require(times.count == 100)
            try await flooder.line(within: .seconds(60), "the flood's end") { $0 == "done" }
            #expect(try await noise.exit(within: .seconds(60)) == .exited(0))
            // Everything that avahi-daemon keeps is there, even if some clients do not read.
            _ = try await daemon.curl("/v1/status") { answer in
                try answer.objects("warm").contains { ($0["services"] as? Int ?? 0) > 500 }
            }
            let usage = ProcessUsage(try pid(of: await daemon.curl("/v1/status")))
            // The median: delays from the machine's other work are not the daemon's.
            #expect(times[50] < 50, "\(times)")
            #expect(usage.kilobytes < 65_536)
            #expect(usage.descriptors < 150)
            let metrics = try await daemon.curl("/metrics").text
            #expect(metrics.contains("discoverd_connections_dropped_total{reason=\"replaced\"}"), "\(metrics)")
            Figures(
                scenario: "60 to 62",
                what: "64 slow clients, a watcher that never reads, 5000 services, 10 MB, random bytes",
                note: "status answers after \(times[50]) ms (95 of 100: \(times[95]) ms), \(usage.kilobytes / 1024) MB"
            ).record()
            for one in [watcher, slow] { one.signal(SIGKILL) }
            try await daemon.stop()
            try await lab.stop()
        }

        /// On the wire: in a flood names are late with Avahi's finder (docs/decisions/0035-the-avahi-finder-is-plain.md).
        @Test(
            "a flood is listed while it lasts, through the daemon as without it, also of a type that it keeps warm",
            .enabled(if: Lab.isOnWire, "Avahi's finder is late"))
        func listing() async throws {
            let lab = try await Lab.start(hosts: 3)
            let daemon = try await LabDaemon.start(on: "h1", of: lab, "finder: wire\nbrowse: [\(Lab.type)]\n")
            // One client asked before the flood, the other asks in the midst of it.
            let early = try browsers(lab)
            let flooder = try lab.exec(
                "h3",
                [Lab.python, "-c", FloodTests.flooder, Lab.scripts, "100000", "800", "full", Lab.type, "again"],
                environment: ["PYTHONDONTWRITEBYTECODE": "1"])
            try await early.direct.line(within: .seconds(60), "the flood") { $0.contains("flood-600") }
            let late = try browsers(lab)
            // The flood lasts until each has listed these: who lists only what has settled would list nothing.
            let browsers = [
                "early, direct": early.direct, "early, through": early.through, "late, direct": late.direct,
                "late, through": late.through,
            ]
            for (name, browser) in browsers {
                await browser.waitForLines(beyond: 900, within: .seconds(60))
                #expect(browser.lines().count > 900, "\(name)")
            }
            #expect(!flooder.lines().contains("done"))
            flooder.closeInput()
            try await flooder.line(within: .seconds(60), "the flood's end") { $0 == "done" }
            for process in [early.direct, early.through, late.direct, late.through] { try await process.stop() }
            try await daemon.stop()
            try await lab.stop()
        }

        private func browsers(_ lab: Lab) throws -> (direct: LabProcess, through: LabProcess) {
            let through = try lab.discoverd("h1", "browse", Lab.type, "--json")
            let direct = [Built.discoverd, "browse", Lab.type, "--json", "--no-daemon"]
            return (try lab.exec("h1", direct + Lab.finder), through)
        }

        private func clients(_ lab: Lab, _ arguments: String...) throws -> LabProcess {
            try lab.exec(
                "h1", ["/usr/bin/python3", "\(Lab.scripts)/hostile_clients.py", LabDaemon.systemSocket] + arguments)
        }

        private func pid(of status: LabDaemon.Answer) throws -> pid_t {
            pid_t(try #require(try status.json()["pid"] as? Int))
        }
    }
}
