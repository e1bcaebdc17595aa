import Foundation
import Testing

/// What publishes where nobody says it, on hosts that have an avahi-daemon, another responder, or neither.
@Suite("what publishes by itself", .labSlot)
struct PublisherChoiceTests {
    private static let noBus = ["/usr/bin/env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/nowhere"]

    private func publish(_ lab: Lab, _ prefix: [String] = [], _ options: String...) throws -> LabProcess {
        try lab.exec("h1", prefix + [Built.discoverd, "publish", "tony", "9000", "--json"] + options)
    }

    /// It ends with 69 within 5 s, and says why.
    private func refused(_ lab: Lab, _ prefix: [String] = [], _ texts: String...) async throws {
        let start = ContinuousClock.now
        let publisher = try publish(lab, prefix)
        #expect(try await publisher.exit(within: .seconds(10)) == .exited(69))
        #expect(ContinuousClock.now - start < .seconds(6))
        let said = publisher.lines(.stderr).joined(separator: "\n")
        for text in texts { #expect(said.contains(text), "\(said)") }
    }

    private func seen(_ lab: Lab, _ name: String = "tony") async throws {
        let line = try await lab.run("h2", "avahi-browse", "-rtp", "_witap._tcp")
        #expect(line.contains { $0.hasPrefix("=;eth0;IPv4;\(name);") && $0.contains(";h1.local;") }, "\(line)")
    }

    @Test("a bare host: commands, programs of the library and the daemon publish, with no other process and no bus")
    func bare() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let publisher = try publish(lab, Self.noBus)
        try await publisher.json("established") { $0.state == "established" }
        try await seen(lab)
        let program = try lab.exec("h1", Self.noBus + [Built.program("stream-hello"), "serve", "--publish"])
        let daemon = try LabDaemon(lab, "h1", socket: LabDaemon.systemSocket)
        try daemon.configure("services: [{name: served, type: _witap._tcp, port: 80}]\n")
        _ = try await daemon.start("--avahi", "auto")
        _ = try await daemon.curl("/v1/registrations") {
            try $0.objects("registrations").first?["state"] as? String == "established"
        }
        let health = try await daemon.curl("/healthz").json()
        #expect(health["status"] as? String == "ok", "\(health)")
        let publishing = try #require(health["publisher"] as? [String: Any])
        #expect(publishing["state"] as? String == "available" && publishing["by"] as? String == "wire", "\(health)")
        try await seen(lab, "served")
        let found = try await lab.ask("h2", "wait", "_tonyipp._tcp", "--timeout", "10")
        #expect(found.exit == .exited(0), "\(found)")
        try await daemon.stop()
        for process in [publisher, program] { try await process.stop() }
        try await lab.stop()
    }

    @Test("who browses with python-zeroconf, or with discoverd, is no responder")
    func queriers() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let zeroconf = try lab.python("h1", "zc_browse.py", "_witap._tcp", "--seconds", "60")
        let other = try lab.discoverd("h1", "browse", "_witap._tcp", "--json")
        try await other.json("settled") { $0.event == "settled" }
        let publisher = try publish(lab)
        try await publisher.json("established") { $0.state == "established" }
        try await zeroconf.line(.stdout, within: .seconds(20), "found") { $0.contains(#""tony""#) }
        try await publisher.stop()
        for process in [zeroconf, other] { process.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test(
        "an avahi-daemon that hangs, or whose bus or library is missing: 69 names it; the daemon waits"
    )
    func avahiOutOfReach() async throws {
        let lab = try await Lab.start()
        try await refused(lab, Self.noBus, "avahi-daemon (pid ", "--avahi never")
        let daemon = try LabDaemon(lab, "h1", socket: LabDaemon.systemSocket)
        try daemon.configure("services: [{name: served, type: _witap._tcp, port: 80}]\n")
        try await lab.avahi("h1", "stop")
        _ = try await daemon.start("--avahi", "auto")
        _ = try await daemon.curl("/healthz", within: .seconds(20)) {
            $0.status == 503 && $0.text.contains("avahi-daemon (pid ")
        }
        try await lab.avahi("h1", "cont")
        _ = try await daemon.curl("/healthz", within: .seconds(30)) { $0.status == 200 }
        try await seen(lab, "served")
        try await daemon.stop()

        try await lab.avahi("h1", "stop")
        try await refused(lab, [], "avahi-daemon (pid ", "does not answer")
        try await lab.avahi("h1", "cont")
        let script =
            "mount --bind /dev/null $(ldconfig -p | awk '/libavahi-client.so.3/ {print $NF; exit}') && exec \"$@\""
        try await refused(
            lab, ["unshare", "--mount", "bash", "-c", script, "bash"], "avahi-daemon (pid ", "libavahi-client3")
        try await lab.stop()
    }

    @Test(
        "systemd-resolved with multicast DNS, or mdnsd: 69 names it; the daemon waits until it has gone",
        arguments: [true, false])
    func others(isResolved: Bool) async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let other: LabProcess
        let name: String
        if isResolved {
            guard let program = Lab.resolved else { return }
            other = try lab.exec(
                "h1", "\(Lab.scripts)/resolved.sh", program, "publish", "mine", "_witap._tcp", "1", "a=b")
            name = "systemd-resolved (pid "
        } else {
            // Its name and its port are all that is looked at.
            let script = """
                cp "$(readlink -f /usr/bin/python3)" /run/mdnsd
                exec /run/mdnsd -c 'import socket,time
                s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                for o in (socket.SO_REUSEADDR, socket.SO_REUSEPORT): s.setsockopt(socket.SOL_SOCKET, o, 1)
                s.bind(("", 5353)); print("bound", flush=True); time.sleep(1000)'
                """
            other = try lab.exec("h1", "bash", "-c", script)
            try await other.line(.stdout, "bound") { $0 == "bound" }
            name = "mdnsd (pid "
        }
        let holds = "until ss -Huln sport = :5353 | grep -q .; do sleep 0.05; done"
        #expect(try await lab.bash("h1", holds).exit == .exited(0))
        try await refused(lab, [], name)
        let daemon = try LabDaemon(lab, "h1", socket: LabDaemon.systemSocket)
        try daemon.configure("services: [{name: served, type: _witap._tcp, port: 80}]\n")
        _ = try await daemon.start("--avahi", "auto")
        _ = try await daemon.curl("/healthz", within: .seconds(20)) { $0.status == 503 && $0.text.contains(name) }
        other.signal(SIGKILL)
        _ = try await daemon.curl("/healthz", within: .seconds(20)) { $0.status == 200 }
        try await seen(lab, "served")
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("disallow-other-stacks of an avahi-daemon that does not run: said, 69")
    func port() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let script = """
            mount -t tmpfs tmpfs /etc/avahi || exit 125
            printf '[server]\\ndisallow-other-stacks=yes\\n' >/etc/avahi/avahi-daemon.conf
            exec "$@"
            """
        try await refused(
            lab, ["unshare", "--mount", "bash", "-c", script, "bash"], "disallow-other-stacks=yes")
        try await lab.stop()
    }
}
