import Foundation
import Testing

/// A host without D-Bus and avahi-daemon: discoverd brings its own.
@Suite("the private backend", .labSlot)
struct PrivateBackendTests {
    /// Set by env(1), because `lab exec` gives each command the address of its host's bus.
    private static let noBus = ["/usr/bin/env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/nowhere"]

    private func lab() async throws -> Lab { try await Lab.start("--no-avahi", "h1") }

    private func publish(_ name: String, _ lab: Lab, _ options: String...) throws -> LabProcess {
        try lab.exec("h1", Self.noBus + [Built.discoverd, "publish", name, "9000", "--json"] + options)
    }

    /// The private backend's directory on h1; nil if there is none.
    private func directory(_ lab: Lab) async throws -> String? {
        try await lab.toEnd("h1", ["ls", "/run", "/run/user"], within: .seconds(5)).output
            .first { $0.hasPrefix("discoverd-") && !$0.contains(".") }
    }

    /// The processes whose command line contains `text`.
    private func processes(_ text: String, _ lab: Lab) async throws -> [Int32] {
        try await lab.toEnd("h1", ["pgrep", "-f", text], within: .seconds(5)).output.compactMap { Int32($0) }
    }

    @Test(
        "established without any system service; avahi-daemon and dbus-daemon killed: back; owner killed: nothing left")
    func lives() async throws {
        let lab = try await lab()
        let publisher = try publish("tony", lab, "--backend", "private")
        try await publisher.json("established") { $0.state == "established" }
        let browser = try lab.discoverd("h2", "browse", "_witap._tcp", "--json")
        try await browser.json("added") { $0.tells("added", "tony") }
        let directory = try #require(try await directory(lab))

        for (program, limit) in [("avahi-daemon", Duration.seconds(3)), ("dbus-daemon", .seconds(5))] {
            let found = try await processes("\(program) .*\(directory)/", lab)
            #expect(found.count == 1, "\(program): \(found)")
            for process in found { kill(process, SIGKILL) }
            let start = ContinuousClock.now
            try await publisher.json("waiting") { $0.state == "waiting" }
            try await publisher.json("established") { $0.state == "established" }
            #expect(start.duration(to: .now) < limit, "\(program)")
        }
        #expect(!browser.lines().contains { $0.contains(#""removed""#) }, "\(browser.lines())")

        publisher.signal(SIGKILL)
        let start = ContinuousClock.now
        _ = try await publisher.exit()
        var left: [Int32] = []
        repeat {
            left = try await processes("\(directory)/", lab)
        } while !left.isEmpty
            && start.duration(to: .now) < .seconds(2)
        #expect(left.isEmpty)
        #expect(try await self.directory(lab) == nil)
        try await browser.json("removed") { $0.tells("removed", "tony") }
        try await browser.stop()
        try await lab.stop()
    }

    @Test(
        "auto starts it where there is none, and a user's commands share it; when its owner is killed another takes over"
    )
    func shared() async throws {
        let lab = try await lab()
        let first = try publish("first", lab)
        try await first.json("established") { $0.state == "established" }
        let second = try publish("second", lab)
        try await second.json("established") { $0.state == "established" }
        let seen = try await lab.toEnd(
            "h1",
            Self.noBus + [Built.discoverd, "browse", "_witap._tcp", "-t", "--json"], within: .seconds(10))
        #expect(Set(try seen.lines().compactMap(\.service?.name)) == ["first", "second"], "\(seen)")

        let browser = try lab.discoverd("h2", "browse", "_witap._tcp", "--json")
        try await browser.json("settled") { $0.event == "settled" }
        first.signal(SIGKILL)
        try await second.json("waiting") { $0.state == "waiting" }
        try await second.json("established again") { $0.state == "established" }
        try await browser.json("removed") { $0.tells("removed", "first") }
        #expect(!browser.lines().contains { $0.contains(#""removed""#) && $0.contains("second") })
        try await second.stop()
        try await browser.stop()
        try await lab.stop()
    }

    @Test("the daemon finds without it, is healthy, and starts it when something is published")
    func startsToPublish() async throws {
        let lab = try await lab()
        let far = try await lab.publish("h2", "far", "9000")
        let daemon = try LabDaemon(lab, "h1", socket: LabDaemon.systemSocket)
        try daemon.configure("browse: [_witap._tcp]\n")
        _ = try await daemon.start("--backend", "auto")
        _ = try await daemon.curl("/v1/services?type=_witap._tcp") { try $0.objects("services").count == 1 }
        #expect(try await directory(lab) == nil)
        let health = try await daemon.curl("/healthz").json()
        #expect(health["status"] as? String == "ok" && (health["reasons"] as? [String])?.isEmpty == true, "\(health)")
        #expect((health["finder"] as? [String: Any])?["state"] as? String == "available", "\(health)")
        #expect((health["publisher"] as? [String: Any])?["state"] as? String == "unavailable", "\(health)")
        let near = try await lab.ask("h1", "publish", "near", "9001", "--detach")
        #expect(near.exit == .exited(0), "\(near.errors)")
        #expect(try await directory(lab) != nil)
        _ = try await daemon.curl("/healthz") {
            (try $0.json()["publisher"] as? [String: Any])?["state"] as? String != "unavailable"
        }
        let seen = try await lab.ask("h2", "wait", "_witap._tcp", "--count", "2", "--timeout", "5")
        #expect(seen.exit == .exited(0), "\(seen)")

        // Once nothing is published, its end is no loss.
        let directory = try #require(try await directory(lab))
        #expect(try await lab.ask("h1", "unpublish", "near").exit == .exited(0))
        // What supervises it, or it would be started again.
        let bus = try #require(try await processes("dbus-daemon .*\(directory)/", lab).first)
        let parent = try await lab.toEnd("h1", ["ps", "-o", "ppid=", "-p", "\(bus)"], within: .seconds(5))
        let supervisor = try #require(parent.output.first.flatMap { Int32($0.trimmingCharacters(in: .whitespaces)) })
        #expect(try supervisor > 1 && supervisor != daemon.process.pid)
        kill(supervisor, SIGKILL)
        _ = try await daemon.curl("/healthz") {
            (try $0.json()["publisher"] as? [String: Any])?["state"] as? String == "unavailable"
        }
        let idle = try await daemon.curl("/healthz").json()
        #expect(idle["status"] as? String == "ok" && (idle["reasons"] as? [String])?.isEmpty == true, "\(idle)")
        try await daemon.stop()
        try await far.stop()
        try await lab.stop()
    }

    @Test("auto uses the system's avahi-daemon where it answers, and private is refused beside it")
    func besideTheSystems() async throws {
        let lab = try await Lab.start()
        let publisher = try await lab.publish("h1", "tony", "9000")
        #expect(try await directory(lab) == nil)
        let refused = try await lab.ask("h1", "publish", "other", "9001", "--backend", "private")
        #expect(refused.exit == .exited(69))
        #expect(
            refused.failure?.contains("5353") == true && refused.failure?.contains("avahi-daemon") == true)
        // No advice to install programs that are installed and running.
        #expect(!refused.errors.contains { $0.contains("apt install") }, "\(refused.errors)")
        #expect(refused.errors.contains { $0.contains("--backend system") }, "\(refused.errors)")
        try await publisher.stop()
        try await lab.stop()
    }

    @Test("auto waits for a slow avahi-daemon of the system's, also beside a command that starts a private one")
    func slowSystem() async throws {
        let lab = try await Lab.start()
        // The lock that a command holds while it starts a backend.
        let lock = #"/run/user/discoverd-$(stat -Lc %i /proc/self/ns/net).lock"#
        let other = try lab.exec("h1", "bash", "-c", "exec flock --no-fork \(lock) sh -c 'echo held; exec cat'")
        try await other.line { $0 == "held" }
        try await lab.avahi("h1", "stop")
        let publisher = try lab.discoverd("h1", "publish", "tony", "9000", "--json")
        try await publisher.line(.stdout, "waiting") { $0.contains("another process is starting") }
        other.closeInput()
        try await other.exit()
        try await lab.avahi("h1", "cont")
        try await publisher.json("established") { $0.state == "established" }
        try await publisher.stop()
        try await lab.stop()
    }

    /// A bus that starts an avahi-daemon that never appears: libavahi-client waits 25 s for it.
    private static let hangingBus = """
        mkdir -p /run/hang; cd /run/hang
        printf '[D-BUS Service]\nName=org.freedesktop.Avahi\nExec=/bin/sleep 600\n' >org.freedesktop.Avahi.service
        cat >bus.conf <<CONF
        <busconfig><listen>unix:path=/run/hang/bus</listen><auth>EXTERNAL</auth><servicedir>/run/hang</servicedir>
        <policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/>
        <allow receive_sender="*" eavesdrop="true"/></policy></busconfig>
        CONF
        exec dbus-daemon --config-file=bus.conf --nofork --nopidfile --print-address
        """

    @Test("auto decides after 2 s where D-Bus starts an avahi-daemon that never answers; where no other can be, 69")
    func activationHangs() async throws {
        let lab = try await lab()
        let bus = try lab.exec("h1", "bash", "-c", Self.hangingBus)
        try await bus.line { $0.hasPrefix("unix:") }
        let discoverd = ["/usr/bin/env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/hang/bus", Built.discoverd]
        let publisher = try lab.exec("h1", discoverd + ["publish", "tony", "9000", "--json"])
        try await publisher.json("registering") { $0.state == "registering" }
        let start = ContinuousClock.now
        try await publisher.json("waiting") { $0.state == "waiting" }
        let decided = ContinuousClock.now - start
        #expect(decided > .seconds(1) && decided < .seconds(4), "\(decided)")
        try await publisher.json(within: .seconds(15), "established") { $0.state == "established" }
        try await publisher.stop()

        try await lab.run("h1", "mount", "--bind", "/dev/null", "/usr/sbin/avahi-daemon")
        let none = try await lab.toEnd("h1", discoverd + ["publish", "other", "9001"], within: .seconds(20))
        #expect(none.exit == .exited(69) && none.duration < .seconds(10), "\(none)")
        #expect(none.errors.contains { $0.contains("apt install avahi-daemon") }, "\(none.errors)")
        bus.signal(SIGTERM)
        try await lab.stop()
    }
}
