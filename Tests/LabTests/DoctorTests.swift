import Glibc
import Testing

/// How `doctor` reports what is wrong.
@Suite("doctor", .labSlot)
struct DoctorTests {
    @Test("an avahi-daemon that hangs is to be restarted, not installed")
    func hung() async throws {
        let lab = try await Lab.start()
        try await lab.avahi("h1", "stop")
        let run = try await lab.ask("h1", "doctor")
        let finding = run.output.first { $0.hasPrefix("fail\tavahi\t") } ?? ""
        #expect(run.exit == .exited(69) && finding.contains("systemctl restart avahi-daemon"), "\(run)")
        #expect(finding.contains("avahi-daemon (pid ") && !finding.contains("apt install"))
        let publish = try await lab.ask("h1", "publish", "tony", "9000")
        let advice = publish.errors.joined(separator: "\n")
        #expect(publish.exit == .exited(69), "\(publish)")
        #expect(advice.contains("runs and cannot be asked. Restart it: systemctl restart avahi-daemon"), "\(publish)")
        #expect(!advice.contains("or stop what has UDP port 5353") && !advice.contains("systemctl start"), "\(publish)")
        try await lab.stop()
    }

    @Test("no avahi-daemon and no bus: discoverd publishes by itself, and its own processes are no other responders")
    func alone() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let publisher = try lab.discoverd("h1", "publish", "tony", "9000")
        try await publisher.line { $0.hasPrefix("published ") }
        let second = try lab.discoverd("h1", "publish", "eve", "9001")
        try await second.line { $0.hasPrefix("published ") }
        let run = try await lab.toEnd(
            "h1", ["/usr/bin/env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/nowhere", Built.discoverd, "doctor"],
            within: .seconds(20))
        for text in [
            "ok\tavahi\tno avahi-daemon runs: discoverd publishes", "skip\tdbus\t", "ok\tresponder\tdiscoverd (pid ",
        ] {
            #expect(run.output.contains { $0.hasPrefix(text) }, "\(run)")
        }
        #expect(
            run.output.contains { $0.hasPrefix("ok\tresponder\tdiscoverd (pid ") && $0.contains("in the group") },
            "\(run)")
        #expect(run.exit == .exited(0), "\(run)")
        for process in [second, publisher] { try await process.stop() }
        try await lab.stop()
    }

    @Test("two avahi-daemons on one host")
    func two() async throws {
        let lab = try await Lab.start()
        let clean = try await lab.ask("h1", "doctor")
        #expect(clean.output.contains { $0.hasPrefix("ok\tresponder\tavahi-daemon (pid ") }, "\(clean)")
        // Holds the port as a second avahi-daemon would; its name is what counts.
        let second = try lab.exec(
            "h1",
            [
                "/usr/bin/python3", "-c",
                """
                import socket, sys
                s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                s.bind(("", 5353))
                open("/proc/self/comm", "w").write("avahi-daemon")
                print("ready", flush=True)
                sys.stdin.read()
                """,
            ])
        try await second.line(.stdout, "ready") { $0 == "ready" }
        let run = try await lab.ask("h1", "doctor")
        #expect(run.output.contains { $0.hasPrefix("fail\tresponder\t2 avahi-daemons") }, "\(run)")
        #expect(run.exit == .exited(1))
        second.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("a second avahi-daemon that runs, and a responder of another kind")
    func twoResponders() async throws {
        let lab = try await Lab.start()
        // It has no bus, and its own /run, which hides the first one's.
        let script = """
            mount -t tmpfs tmpfs /run/avahi-daemon
            printf '[server]\nhost-name=second\nenable-dbus=no\n' >/run/avahi-daemon/conf
            exec avahi-daemon -f /run/avahi-daemon/conf --no-drop-root --no-chroot --no-rlimits --no-proc-title
            """
        let second = try lab.exec("h1", ["unshare", "--mount", "/bin/bash", "-ec", script])
        try await second.line(.stderr, within: .seconds(20), "it serves") {
            $0.contains("Registering new address record")
        }
        let two = try await lab.ask("h1", "doctor")
        let fail = two.output.first { $0.hasPrefix("fail\tresponder\t2 avahi-daemons") } ?? ""
        #expect(fail.contains("(pid \(second.pid))") && two.exit == .exited(1), "\(two)")
        second.signal(SIGTERM)
        try await second.exit()

        let other = try lab.python("h1", "zc_publish.py", "other", "_http._tcp", "9000")
        try await other.line(.stdout, within: .seconds(20), "it publishes") { _ in true }
        let both = try await lab.ask("h1", "doctor")
        let warn = both.output.first { $0.hasPrefix("warn\tresponder\t") } ?? ""
        #expect(warn.contains("(pid \(other.pid)) listens on UDP port 5353 too"), "\(both)")
        #expect(both.output.contains { $0.hasPrefix("ok\tresponder\tavahi-daemon (pid ") })
        other.signal(SIGTERM)
        try await other.exit()
        let alone = try await lab.ask("h1", "doctor")
        #expect(alone.output.count { $0.contains("\tresponder\t") } == 1 && alone.exit == .exited(0), "\(alone)")
        try await lab.stop()
    }

    @Test("one name claimed by two hosts: both are named, and how to tell")
    func claimedTwice() async throws {
        let lab = try await Lab.start(hosts: 3)
        // avahi-daemon would give way (RFC 6762 §9); these do not.
        let real = try await lab.inject(
            "h2",
            """
            {"services": [{"instance": "tony", "type": "_witap._tcp", "port": 9000, "host": "nas", "addresses": ["10.77.0.2"]}]}
            """, ["--interval", "0.3"])
        let clean = try await lab.ask("h1", "doctor")
        #expect(clean.output.contains { $0.hasPrefix("ok\tnames\tno name is claimed twice") }, "\(clean)")
        let impostor = try await lab.inject(
            "h3",
            """
            {"services": [{"instance": "tony", "type": "_witap._tcp", "port": 9001, "host": "evil", "addresses": ["10.77.0.3"]}],
             "records": [{"name": "nas.local", "type": "A", "address": "10.77.0.3", "flush": false}]}
            """, ["--interval", "0.3"])
        let run = try await lab.ask("h1", "doctor")
        let service = run.output.first { $0.hasPrefix("warn\tnames\tthe service tony._witap._tcp.local") } ?? ""
        #expect(service.contains("10.77.0.2 on eth0 says nas.local port 9000"), "\(run)")
        #expect(service.contains("10.77.0.3 on eth0 says evil.local port 9001"), "\(run)")
        #expect(service.contains("discoverd key show"), "\(run)")
        let host = run.output.first { $0.hasPrefix("warn\tnames\tthe host name nas.local") } ?? ""
        #expect(
            host.contains("10.77.0.2 on eth0 says 10.77.0.2") && host.contains("10.77.0.3 on eth0 says 10.77.0.3"),
            "\(run)")
        #expect(run.exit == .exited(0))
        impostor.signal(SIGTERM)
        real.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("the daemon: whether it runs, and what it lets this user do")
    func daemon() async throws {
        let lab = try await Lab.start()
        let without = try await lab.ask("h1", "doctor")
        #expect(without.output.contains { $0.hasPrefix("ok\tdaemon\tno daemon") }, "\(without)")
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        let with = try await lab.ask("h1", "doctor")
        for text in ["runs", "you may publish", "you may hand services over"] {
            #expect(with.output.contains { $0.hasPrefix("ok\tdaemon\t") && $0.contains(text) }, "\(with)")
        }
        let process = try daemon.process
        process.signal(SIGKILL)
        _ = try await process.exit()
        let stale = try await lab.ask("h1", "doctor")
        #expect(
            stale.output.contains { $0.hasPrefix("warn\tdaemon\t") && $0.contains("systemctl restart discoverd") },
            "\(stale)")
        try await lab.stop()
    }

    @Test("daemon --check tells all that is wrong, with file and line")
    func check() async throws {
        let lab = try await Lab.start()
        let daemon = try LabDaemon(lab)
        try daemon.configure("colour: red\nservices:\n  - {name: a, type: _http._tcp, prot: 80}\n")
        try daemon.configure("name: c\ntype: _._tcp\nport: 80\n", "services.d/c.yaml")
        let run = try await lab.toEnd(
            "h1", [Built.discoverd] + daemon.arguments + ["--check"], within: .seconds(15))
        #expect(run.exit == .exited(78))
        let places = ["discoverd.yaml:1: ", "discoverd.yaml:3: ", "discoverd.yaml:3: ", "services.d/c.yaml:2: "]
        #expect(run.errors.count == places.count, "\(run)")
        for (line, place) in zip(run.errors, places) {
            #expect(line.hasPrefix("discoverd: error: ") && line.contains(place), "\(line)")
        }
        try await lab.stop()
    }
}
