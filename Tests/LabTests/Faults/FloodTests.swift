import Foundation
import Testing

extension FaultTests {
    @Suite("Floods", .labAlone)
    struct FloodTests {
        @Test(
            "40: 5000 services in a flood, full records or pointers only: alive, bounded, all shown or said to be incomplete",
            arguments: Everything.of([800, 4_400], inAChange: [4_400]),
            Everything.of([false, true], inAChange: [false]))
        func flood(rate: Int, pointersOnly: Bool) async throws {
            let lab = try await Lab.start(hosts: 3)
            var own = try lab.publish(5, on: "h1", prefix: "own")
            try await own.wait(forEstablished: Lab.names(5, prefix: "own"), within: .seconds(5))
            var browser = try lab.browse(on: "h2")
            let ownNames = Lab.names(5, prefix: "own")
            try await browser.wait(for: "the real ones", within: .seconds(5)) { $0.names == ownNames }
            let before = ProcessUsage(browser.process.pid)
            let flooder = try lab.exec(
                "h3",
                [
                    Lab.python, "-c", Self.flooder, Lab.scripts, "5000", "\(rate)", pointersOnly ? "ptr" : "full",
                    Lab.type, "again",
                ],
                environment: ["PYTHONDONTWRITEBYTECODE": "1"]
            )
            // avahi-daemon's cache is full long before; on the wire there is room for all.
            try await browser.wait(for: Lab.isOnWire ? "all" : "degraded", within: .seconds(60)) { log in
                Lab.isOnWire && log.names.count == 5_005
                    || log.lines.contains { $0.event == "degraded" && ($0.reason?.contains("cache") ?? false) }
            }
            flooder.closeInput()
            try await flooder.line(within: .seconds(30)) { $0 == "done" }
            try browser.catchUp()
            let after = ProcessUsage(browser.process.pid)
            #expect(browser.names.isSuperset(of: ownNames) && browser.count("removed") == 0)
            #expect(after.kilobytes < 65_536)
            try own.catchUp()
            #expect(own.established == ownNames)
            let start = ContinuousClock.now
            browser.process.signal(SIGTERM)
            #expect(try await browser.process.exit(within: .seconds(2)) == .exited(0))
            let ended = start.duration(to: .now)
            Figures(
                scenario: "40",
                what: "5000 services\(pointersOnly ? " (PTR only)" : "") at \(rate) packets/s",
                flaps: browser.count("removed"),
                note: "\(browser.names.count) shown, \(before.kilobytes / 1_024) → \(after.kilobytes / 1_024) MB, "
                    + "\(String(format: "%.1f s", after.seconds - before.seconds)) of CPU, Ctrl-C ends it after \(ended.seconds)"
            ).record()
            try await lab.stop()
        }

        @Test(
            "1: more services in one process than fit on one connection", .labLong,
            .enabled(if: !Lab.publishesOnWire, "avahi-daemon is the publisher"))
        func many() async throws { try await ManyServices.run(300) }

        @Test(
            "a list full of names that no one answers for: a service that comes later is found", .onlyInAll,
            .enabled(if: Lab.isOnWire))
        func fullList() async throws {
            let lab = try await Lab.start(
                ["--hosts", "3", "--no-avahi", "h1", "--no-avahi", "h2", "--no-avahi", "h3"], environment: [:])
            var browser = try lab.browse(on: "h2", "-r")
            try await browser.wait(for: "the list", within: .seconds(5)) { $0.isSettled }
            let filler = try lab.exec(
                "h3", [Lab.python, "-c", Self.filler, Lab.scripts, "80000", Lab.type],
                environment: ["PYTHONDONTWRITEBYTECODE": "1"])
            try await browser.wait(for: "degraded", within: .seconds(60)) { log in
                log.lines.contains {
                    $0.event == "degraded" && $0.reason?.contains("more records are announced") == true
                }
            }
            filler.closeInput()
            try await filler.line(within: .seconds(60)) { $0 == "done" }
            let injector = try await lab.inject(
                "h1", #"{"services":[{"instance":"tony","type":"\#(Lab.type)","addresses":["10.77.0.1"]}]}"#)
            let found = try await browser.wait(for: "the service", within: .seconds(10)) {
                $0.present["tony"]?.state == "resolved"
            }
            let after = ProcessUsage(browser.process.pid)
            Figures(
                scenario: "40",
                what: "80,000 names that no one answers for, 75 min to live; then a service",
                recovery: found,
                note: "\(browser.names.count) shown, \(after.kilobytes / 1_024) MB"
            ).record()
            #expect(after.kilobytes < 131_072)
            try await injector.stop()
            try await lab.stop()
        }

        /// Sends pointers, as many a packet as it holds, one round after the other until its standard input ends.
        static let filler = """
            import itertools, select, sys, time
            sys.path.insert(0, sys.argv[1])
            import mdns
            count, kind = int(sys.argv[2]), sys.argv[3] + ".local"
            udp, group = mdns.open_socket("4", mdns.socket.if_nametoindex("eth0"))
            records = [
                {"name": kind, "type": "PTR", "target": f"filler-{n}." + kind, "ttl": 4500} for n in range(count)
            ]
            for packet in itertools.cycle(list(mdns.packets(records))):
                if select.select([sys.stdin], [], [], 0)[0]:
                    break
                udp.sendto(packet, group)
                time.sleep(0.001)
            print("done", flush=True)
            """

        /// Sends one packet per service: each once, or with `again` one round after the other until its standard input ends, since a busy
        /// machine drops some. Between rounds it waits, each time twice as long, as who announces does (RFC 6762 §8.3).
        static let flooder = """
            import itertools, select, sys, time
            sys.path.insert(0, sys.argv[1])
            import mdns
            count, rate, what, kind = int(sys.argv[2]), float(sys.argv[3]), sys.argv[4], sys.argv[5]
            again = sys.argv[6:] == ["again"]
            udp, group = mdns.open_socket("4", mdns.socket.if_nametoindex("eth0"))
            start = time.monotonic()
            for n in itertools.count():
                one, pause = n % count, 0
                if n and not one:
                    pause = 2 ** (n // count - 1)
                    start += pause
                if select.select([sys.stdin], [], [], pause)[0] if again else n == count:
                    break
                records = mdns.service_records({"instance": f"flood-{one}", "type": kind, "host": f"host-{one}", "txt": ["a=b"]})
                if what == "ptr":
                    records = records[:1]
                for packet in mdns.packets(records):
                    udp.sendto(packet, group)
                wait = start + n / rate - time.monotonic()
                if wait > 0.001:
                    time.sleep(wait)
            print("done", flush=True)
            """
    }
}

/// Scenario 1 with many services in one process (docs/decisions/0004).
enum ManyServices {
    static func run(_ count: Int) async throws {
        let lab = try await Lab.start(hosts: 1)
        let start = ContinuousClock.now
        var publications = try lab.publish(count, on: "h1")
        try await publications.wait(forEstablished: Lab.names(count), within: .seconds(90))
        let first = start.duration(to: .now)
        try await lab.avahi("h1", "kill")
        try await publications.wait(for: "the loss noticed", within: .seconds(5)) { $0.established.isEmpty }
        try await lab.avahi("h1", "start")
        let recovery = try await publications.wait(forEstablished: Lab.names(count), within: .seconds(90))
        Figures(
            scenario: "1",
            what: "avahi-daemon SIGKILL, \(count) services in one process",
            recovery: recovery,
            note: "at first established after \(first.seconds)"
        ).record()
        try await lab.stop()
    }
}
