import Foundation
import Testing

/// Finding on the wire, beside avahi-daemon and without it (docs/decisions/0034-finding-on-the-wire.md).
@Suite("on the wire", .labSlot)
struct WireTests {
    private static let nothingElse = ["/usr/bin/env", "-i"]

    @Test("without avahi-daemon, D-Bus, a home, a /run of one's own or any right: found, resolved and connected to")
    func alone() async throws {
        let lab = try await Lab.start("--no-avahi", "h1", "--users")
        let publisher = try await lab.publish("h2", "tony", "9000")
        let port = try lab.exec("h2", "socat", "TCP6-LISTEN:9000,ipv6only=0,reuseaddr,fork", "SYSTEM:echo hello")
        let asUser =
            geteuid() == 0
            ? ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set", "-all"] : []
        for command in [
            ["browse", "_witap._tcp", "-r", "-t", "--json"], ["resolve", "tony", "--json"],
            ["connect", "tony", "--probe", "--json"],
        ] {
            let run = try await lab.toEnd(
                "h1", Self.nothingElse + asUser + [Built.discoverd] + command + ["--finder", "wire"],
                within: .seconds(15))
            #expect(run.exit == .exited(0), "\(command): \(run.errors)")
            #expect(!run.output.isEmpty, "\(command)")
        }
        // Nothing was started for it.
        #expect(try await lab.toEnd("h1", ["ss", "-Huan", "sport = :5353"], within: .seconds(5)).output.isEmpty)
        port.signal(SIGTERM)
        try await publisher.stop()
        try await lab.stop()
    }

    @Test(
        "in a root with the program, its libraries, /proc and nothing else, as a user without any right: it finds",
        .enabled(if: geteuid() == 0, "a lab with more than one user needs root"))
    func nothingElseThere() async throws {
        let lab = try await Lab.start("--no-avahi", "h1", "--users")
        let publisher = try await lab.publish("h2", "tony", "9000")
        let run = try await lab.toEnd(
            "h1",
            ["/bin/bash", "-c", Self.bareRoot, "bash", Built.discoverd, "browse", "_witap._tcp"]
                + ["-r", "-t", "--json", "--finder", "wire"], within: .seconds(20))
        #expect(run.exit == .exited(0), "\(run.errors)")
        let tony = try run.lines().compactMap(\.service).first { $0.name == "tony" }
        #expect(tony?.state == "resolved" && tony?.host == "h2.local", "\(run.output)")
        try await publisher.stop()
        try await lab.stop()
    }

    /// Runs a program in a root that has it, its libraries and /proc, but neither /tmp nor /run nor /etc nor /sys.
    private static let bareRoot = """
        set -eu
        mkdir /run/bare
        for file in "$1" $(ldd "$1" | grep -o '/[^ ]*'); do install -D "$file" "/run/bare$file"; done
        (($(id -u))) || user=--userspec=65534:65534
        mkdir /run/bare/proc
        mount --rbind /proc /run/bare/proc
        exec env -i "$(command -v chroot)" ${user-} /run/bare "$@"
        """

    @Test(
        "avahi-daemon's unicast stays its own: twenty questions put to the host directly are answered while a browse runs"
    )
    func unicast() async throws {
        let lab = try await Lab.start()
        let publisher = try await lab.publish("h1", "own", "9000")
        let browser = try lab.discoverd("h1", "browse", "_witap._tcp", "--json", "--finder", "wire")
        try await browser.json("its own") { $0.tells("added", "own") }
        let asked = try await lab.toEnd(
            "h2",
            ["/usr/bin/env", "python3", "-c", Self.directQuestions, "10.77.0.1"], within: .seconds(30))
        #expect(asked.output == ["20"], "\(asked.errors)")
        try await browser.stop()
        try await publisher.stop()
        try await lab.stop()
    }

    /// Twenty questions for the list of types, each from its own socket; prints how many were answered.
    private static let directQuestions = """
        import socket, sys
        question = bytes(5) + b"\\1" + bytes(6) + b"\\x09_services\\x07_dns-sd\\x04_udp\\x05local\\0" + b"\\0\\x0c\\0\\1"
        answered = 0
        for number in range(20):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
                asking.settimeout(2)
                asking.sendto(number.to_bytes(2, "big") + question[2:], (sys.argv[1], 5353))
                try:
                    answered += asking.recv(9000)[:2] == number.to_bytes(2, "big")
                except TimeoutError:
                    pass
        print(answered)
        """

    @Test("a goodbye is told within 1.3 s and a little, where the host stays")
    func goodbye() async throws {
        let lab = try await Lab.start()
        let staying = try await lab.publish("h1", "staying", "9001")
        let browser = try lab.discoverd("h2", "browse", "_witap._tcp", "-r", "--json", "--finder", "wire")
        try await browser.json("staying") { $0.tells("added", "staying") }
        let going = try await lab.publish("h1", "going", "9000")
        try await browser.json("going") { $0.tells("added", "going") }
        try await going.stop()
        let ended = ContinuousClock.now
        try await browser.json("removed") { $0.tells("removed", "going") }
        // The RFC's second and the hold; the rest is for a busy machine, and far less than the usual hold.
        #expect(ContinuousClock.now - ended < .milliseconds(2500))
        try await browser.stop()
        try await staying.stop()
        try await lab.stop()
    }

    @Test("RFC 6762 §11: what comes from another port than 5353, or to this host alone, is not believed")
    func otherPorts() async throws {
        let lab = try await Lab.start()
        let browser = try lab.discoverd("h1", "browse", "_witap._tcp", "--json", "--finder", "wire")
        let forged = try await lab.toEnd(
            "h2", ["/usr/bin/env", "python3", "-c", Self.forgedAnswers, "10.77.0.1"], within: .seconds(10))
        #expect(forged.exit == .exited(0), "\(forged.errors)")
        let publisher = try await lab.publish("h2", "good", "9000")
        try await browser.json("good") { $0.tells("added", "good") }
        #expect(!browser.lines().contains { $0.contains("forged") }, "\(browser.lines())")
        try await browser.stop()
        try await publisher.stop()
        try await lab.stop()
    }

    /// Announces `forged-group` to the group from an ephemeral port, and `forged-host` to one host from port 5353.
    private static let forgedAnswers = """
        import socket, sys
        kind = b"\\x06_witap\\x04_tcp\\x05local\\0"
        def answer(name):
            data = bytes([len(name)]) + name + kind
            return bytes(2) + b"\\x84\\0" + bytes(2) + b"\\0\\1" + bytes(4) + kind + b"\\0\\x0c\\0\\1\\0\\0\\x11\\x94" + len(data).to_bytes(2, "big") + data
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_port:
            any_port.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.77.0.2"))
            for _ in range(5):
                any_port.sendto(answer(b"forged-group"), ("224.0.0.251", 5353))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port:
            port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            port.bind(("", 5353))
            for _ in range(5):
                port.sendto(answer(b"forged-host"), (sys.argv[1], 5353))
        """

    @Test("over IPv4 alone only what is heard over IPv4 is told, while another query hears both")
    func families() async throws {
        let lab = try await Lab.start()
        let both = try lab.discoverd("h1", "browse", "_witap._tcp", "--json", "--finder", "wire")
        let only4 = try lab.discoverd("h1", "browse", "_witap._tcp", "--json", "-4", "--finder", "wire")
        // avahi-daemon says everything over both families; this over IPv6 alone.
        let said = try await lab.toEnd(
            "h2", ["/usr/bin/env", "python3", "-c", Self.saidOverIPv6], within: .seconds(10))
        #expect(said.exit == .exited(0), "\(said.errors)")
        try await both.json("six") { $0.tells("added", "six") }
        let publisher = try await lab.publish("h2", "good", "9000")
        try await only4.json("good") { $0.tells("added", "good") }
        #expect(!only4.lines().contains { $0.contains("six") }, "\(only4.lines())")
        try await both.stop()
        try await only4.stop()
        try await publisher.stop()
        try await lab.stop()
    }

    /// Announces `six` over IPv6, five times within a second.
    private static let saidOverIPv6 = """
        import socket, time
        kind = b"\\x06_witap\\x04_tcp\\x05local\\0"
        data = b"\\x03six" + kind
        answer = bytes(2) + b"\\x84\\0" + bytes(2) + b"\\0\\1" + bytes(4) + kind + b"\\0\\x0c\\0\\1\\0\\0\\x11\\x94" + len(data).to_bytes(2, "big") + data
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as port:
            port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            port.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
            port.bind(("::", 5353, 0, 0))
            for _ in range(5):
                port.sendto(answer, ("ff02::fb", 5353, 0, socket.if_nametoindex("eth0")))
                time.sleep(0.2)
        """

    @Test("it outlives avahi-daemon, and neither who publishes nor who looks says a word")
    func outlives() async throws {
        let lab = try await Lab.start()
        let publisher = try await lab.publish("h1", "tony", "9000")
        let browser = try lab.discoverd("h1", "browse", "_witap._tcp", "-r", "--json", "--finder", "wire")
        try await browser.json("tony") { $0.tells("added", "tony") && $0.service?.state == "resolved" }
        _ = try await lab.avahi("h1", "kill")
        _ = try await lab.avahi("h1", "start")
        let other = try await lab.publish("h2", "other", "9001")
        try await browser.json("other") { $0.tells("added", "other") }
        #expect(!browser.lines().contains { $0.contains(#""event":"removed""#) || $0.contains(#""event":"backend""#) })
        #expect(publisher.lines().count == 1, "\(publisher.lines())")
        try await browser.stop()
        for process in [publisher, other] { try await process.stop() }
        try await lab.stop()
    }

    @Test("where avahi-daemon wants the port for itself, the wire says so with 69, and auto is not disturbed")
    func notShared() async throws {
        let lab = try await Lab.start("--avahi", "disallow-other-stacks=yes")
        let publisher = try await lab.publish("h1", "tony", "9000")
        let wire = try await lab.ask("h1", "browse", "_witap._tcp", "-t", "--finder", "wire")
        #expect(wire.exit == .exited(69))
        #expect(wire.failure?.contains("5353") == true, "\(wire.errors)")
        let auto = try await lab.ask("h1", "browse", "_witap._tcp", "-t", "--json")
        #expect(auto.exit == .exited(0))
        #expect(try auto.lines().contains { $0.tells("added", "tony") })
        // Only answers to a port of its own come, which say 10 s whatever is true.
        let query = try await lab.ask("h1", "query", "h2.local", "A")
        #expect(query.output.first?.hasPrefix("h2.local.\t-\tIN\tA\t") == true, "\(query)")
        let doctor = try await lab.ask("h1", "doctor")
        #expect(
            doctor.output.contains {
                $0.hasPrefix("warn\twire") && $0.contains("by avahi-daemon alone") && $0.contains("(pid ")
            }, "\(doctor.output)")
        try await publisher.stop()
        try await lab.stop()
    }

    @Test("a machine that has nothing but lo finds its own services")
    func onlyLoopback() async throws {
        let lab = try await Lab.start(hosts: 1)
        try await lab.run("h1", "ip", "link", "set", "eth0", "down")
        let publisher = try await lab.publish("h1", "tony", "9000")
        let run = try await lab.ask("h1", "browse", "_witap._tcp", "-r", "-t", "--finder", "wire", "--json")
        #expect(run.exit == .exited(0), "\(run.errors)")
        let service = try #require(try run.lines().first { $0.tells("added", "tony") }?.service)
        #expect(service.interfaces == ["lo"] && service.state == "resolved")
        try await publisher.stop()
        try await lab.stop()
    }

    @Test(
        "this machine's own service is had from what its avahi-daemon says to a port, where nothing is heard through the group"
    )
    func silence() async throws {
        let lab = try await Lab.start()
        let publisher = try await lab.avahiPublish("h1", "tony", "_witap._tcp", "9000")
        try await lab.firewall("h1", "udp sport 5353 udp dport 5353 drop")
        let run = try await lab.ask("h1", "resolve", "tony", "_witap._tcp", "--finder", "wire", "--json")
        #expect(run.exit == .exited(0), "\(run.errors)")
        #expect(run.output.first?.contains(#""own":true"#) == true, "\(run.output)")
        publisher.signal(SIGTERM)
        try await lab.stop()
    }
}
