import Foundation
import Testing

/// Names below `local` over DNS, for programs that know no multicast DNS: dig, busybox, Go, curl, systemd-resolved, dnsmasq.
@Suite("DNS for every program", .labSlot)
struct LocalDNSTests {
    private static let server = "127.0.0.55"

    /// Runs a script on a host.
    private static func bash(_ lab: Lab, _ script: String, on host: String = "h2") async throws -> [String] {
        let run = try await lab.toEnd(host, ["/bin/bash", "-c", script], within: .seconds(40))
        return run.output.filter { !$0.isEmpty }
    }

    /// Runs a script on a host whose resolv.conf names the daemon.
    private static func asking(_ lab: Lab, _ script: String, on host: String = "h2") async throws -> [String] {
        let mounted = """
            echo 'nameserver \(server)' >/run/resolv.conf; mount --bind /run/resolv.conf /etc/resolv.conf
            echo 'hosts: files dns' >/run/nsswitch.conf; mount --bind /run/nsswitch.conf /etc/nsswitch.conf
            \(script)
            """
        return try await lab.toEnd(host, ["/usr/bin/unshare", "-m", "/bin/bash", "-c", mounted], within: .seconds(40))
            .output
    }

    private static func daemon(_ lab: Lab, _ dns: String = server) async throws -> LabDaemon {
        let daemon = try LabDaemon(lab, "h2", socket: LabDaemon.systemSocket)
        try daemon.configure("dns: \(dns)\nalias: shop.wiki\n")
        try await daemon.start("--avahi", "never")
        try await Self.says(daemon, "answered by DNS at")
        return daemon
    }

    private static func says(_ daemon: LabDaemon, _ text: String) async throws {
        let process = try daemon.process
        try await eventually(within: .seconds(20), "\(text): \(process.lines(.stderr))") {
            process.lines(.stderr).contains { $0.contains(text) } ? true : nil
        }
    }

    @Test("dig: addresses, services, lists, the name of an address, negative answers; other domains are refused")
    func dig() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        let daemon = try await Self.daemon(lab)
        let web = try await lab.avahiPublish("h1", "Web", "_http._tcp", "8080", "a=1")
        func dig(_ arguments: String) async throws -> [String] {
            try await Self.bash(lab, "dig @\(Self.server) +tries=1 +timeout=3 \(arguments)")
        }
        for way in ["+notcp", "+tcp", "+noedns"] {
            #expect(try await dig("\(way) +short h1.local A") == ["10.77.0.1"], "\(way)")
        }
        #expect(try await dig("+short Web._http._tcp.local SRV") == ["0 0 8080 h1.local."])
        #expect(try await dig("+short Web._http._tcp.local TXT") == ["\"a=1\""])
        #expect(try await dig("+short _http._tcp.local PTR") == ["Web._http._tcp.local."])
        #expect(try await dig("+short -x 10.77.0.1") == ["h1.local."])
        #expect(try await dig("+short h2.local") == ["10.77.0.2"])
        #expect(try await dig("+noall +answer Web._http._tcp.local ANY").count == 2)
        // Link-local addresses of IPv6 are of no use without their link.
        let six = try await dig("h1.local AAAA")
        #expect(six.contains { $0.contains("status: NOERROR") } && !six.contains { $0.contains("fe80") }, "\(six)")
        let nobody = try await dig("nobody.local")
        #expect(nobody.contains { $0.contains("status: NXDOMAIN") }, "\(nobody)")
        #expect(nobody.contains { $0.hasPrefix("local.") && $0.contains("SOA") }, "\(nobody)")
        #expect(try await dig("+short shop.wiki.local") == ["10.77.0.2"])
        // It is there, as a name below it is (RFC 8020).
        let parent = try await dig("wiki.local")
        #expect(parent.contains { $0.contains("status: NOERROR") } && parent.contains { $0.contains("ANSWER: 0") })
        #expect(try await dig("+short local SOA") == [])
        let status = try await daemon.ask("status")
        #expect(status.output.contains("dns\tanswers at \(Self.server):53"), "\(status)")
        for other in ["example.org", "-x 192.0.2.1", "version.bind CH TXT"] {
            #expect(try await dig(other).contains { $0.contains("status: REFUSED") }, "\(other)")
        }
        func life() async throws -> Int? {
            try await dig("+noall +answer h1.local").first?.split(whereSeparator: \.isWhitespace).dropFirst().first
                .flatMap { Int($0) }
        }
        let first = try #require(try await life())
        try await eventually(within: .seconds(10), "the life does not count down from \(first)") {
            try await life().map { $0 < first } == true ? true : nil
        }
        #expect(first <= 120)
        web.signal(SIGKILL)
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("static programs and those with a resolver of their own: busybox, Go, curl, getent")
    func programs() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        let daemon = try await Self.daemon(lab)
        let server = try lab.exec("h1", "/usr/bin/python3", "-um", "http.server", "8080", "--directory", "/run/lab")
        try await server.line(.stdout, "serving") { $0.contains("Serving") }
        let names = try await Self.asking(
            lab, "busybox nslookup -type=a h1.local; getent ahostsv4 h1.local; getent hosts 10.77.0.1")
        #expect(names.contains("Address: 10.77.0.1") && names.last?.hasSuffix("h1.local") == true, "\(names)")
        #expect(names.contains { $0.hasPrefix("10.77.0.1") && $0.contains("STREAM") }, "\(names)")
        for page in ["busybox wget -qO- http://h1.local:8080/", "curl -sf http://h1.local:8080/"] {
            let lines = try await Self.asking(lab, page)
            #expect(lines.contains { $0.contains("Directory listing") }, "\(page): \(lines)")
        }
        // Prometheus' promtool, with Go's own resolver: it has found the host when that answers with a page.
        let promtool = "\(Lab.package).build-tests/prometheus/usr/bin/promtool"
        let go = try await Self.asking(
            lab,
            "GODEBUG=netdns=go \(promtool) query instant http://h1.local:8080 up 2>&1; GODEBUG=netdns=go \(promtool) query instant http://nobody.local:8080 up 2>&1"
        )
        #expect(
            go.contains { $0.contains("404") || $0.contains("501") } && go.contains { $0.contains("no such host") },
            "\(go)")
        server.signal(SIGKILL)
        try await daemon.stop()
        try await lab.stop()
    }

    @Test(
        "a bridge that comes later: who is on it is answered, who asks from elsewhere is not, whatever it calls itself")
    func bridge() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        let daemon = try LabDaemon(lab, "h2", socket: LabDaemon.systemSocket)
        try daemon.configure("dns: 172.31.0.1\n")
        try await daemon.start("--avahi", "never")
        try await Self.says(daemon, "cannot be answered by DNS at 172.31.0.1:53")
        let status = try await daemon.ask("status")
        #expect(
            status.output.contains { $0.hasPrefix("dns\tdoes not answer at 172.31.0.1:53: ") && $0.contains("assign") },
            "\(status)")
        // As `docker run --dns 172.31.0.1` has it: a bridge, and a network namespace behind it.
        let container = """
            ip link add br0 type bridge; ip address add 172.31.0.1/24 dev br0; ip link set br0 up
            unshare -n sleep 60 & sleep_pid=$!
            until [[ $(readlink /proc/$sleep_pid/ns/net) != $(readlink /proc/self/ns/net) ]]; do read -rt 0.05 <> <(:); done
            ip link add v0 type veth peer name v1; ip link set v0 master br0 up; ip link set v1 netns $sleep_pid
            nsenter -t $sleep_pid -n bash -c 'ip address add 172.31.0.9/24 dev v1; ip link set v1 up; ip link set lo up'
            echo ready $sleep_pid; wait
            """
        let inside = try lab.exec("h2", "/bin/bash", "-c", container)
        let ready = try await inside.line { $0.hasPrefix("ready ") }
        let pid = ready.split(separator: " ")[1]
        try await Self.says(daemon, "are answered by DNS at 172.31.0.1:53")
        let ask = "dig @172.31.0.1 +tries=1 +timeout=2 +short"
        let found = try await Self.bash(
            lab, "nsenter -t \(pid) -n bash -c '\(ask) h1.local; \(ask) +tcp h1.local; \(ask) -x 10.77.0.1'"
        )
        #expect(found == ["10.77.0.1", "10.77.0.1", "h1.local."], "\(found)")
        // This machine may ask there, another host may not.
        #expect(try await Self.bash(lab, "\(ask) h1.local") == ["10.77.0.1"])
        let forged = """
            ip route add 172.31.0.0/24 via 10.77.0.2; \(ask) h1.local; \(ask) +tcp h1.local
            ip address add 172.31.0.7/32 dev lo; \(ask) -b 172.31.0.7 h1.local
            """
        let other = try await Self.bash(lab, forged, on: "h1")
        #expect(!other.contains("10.77.0.1"), "\(other)")
        inside.signal(SIGKILL)
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("systemd-resolved, dnsmasq and unbound in front of it; doctor says who answers")
    func resolvers() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        let daemon = try await Self.daemon(lab)
        let ask = "+tries=1 +timeout=5"
        if let program = Lab.resolved {
            let resolved = try lab.exec(
                "h2", "\(Lab.scripts)/resolved.sh", program, "forward", Self.server)
            do {
                try await eventually(within: .seconds(20), "systemd-resolved does not answer") {
                    try await Self.bash(lab, "dig @127.0.0.53 \(ask) +short h1.local") == ["10.77.0.1"] ? true : nil
                }
            } catch {
                let said = try await Self.bash(
                    lab, "dig @127.0.0.53 \(ask) h1.local; dig @\(Self.server) \(ask) h1.local")
                throw resolved.missed("\(error): \(said)")
            }
            let other = try await Self.bash(
                lab, "dig @127.0.0.53 \(ask) nobody.local; dig @127.0.0.53 \(ask) +short -x 10.77.0.1")
            #expect(other.contains { $0.contains("NXDOMAIN") } && other.last == "h1.local.", "\(other)")
            resolved.signal(SIGKILL)
        }
        let dnsmasq = try lab.exec(
            "h2", "/usr/sbin/dnsmasq", "--no-daemon", "--no-resolv", "--no-hosts", "--user=", "--bind-interfaces",
            "--listen-address=127.0.0.1", "--server=/local/\(Self.server)", "--rev-server=10.77.0.0/24,\(Self.server)")
        let configuration = """
            server:\n interface: 127.0.0.2\n do-daemonize: no\n username: \"\"\n chroot: \"\"\n pidfile: \"\"\n\
            do-not-query-localhost: no\n domain-insecure: local\n local-zone: local. nodefault\n\
            forward-zone:\n name: local\n forward-addr: \(Self.server)\n
            """
        let unbound = try lab.exec(
            "h2", "/bin/bash", "-c", "printf '\(configuration)' >/run/unbound.conf; exec unbound -c /run/unbound.conf")
        for server in ["127.0.0.1", "127.0.0.2"] {
            try await eventually(within: .seconds(20), "\(server) does not answer") {
                try await Self.bash(lab, "dig @\(server) \(ask) +short h1.local") == ["10.77.0.1"] ? true : nil
            }
            let none = try await Self.bash(lab, "dig @\(server) \(ask) nobody.local")
            #expect(none.contains { $0.contains("NXDOMAIN") }, "\(server): \(none)")
        }
        #expect(try await Self.bash(lab, "dig @127.0.0.1 \(ask) +short -x 10.77.0.1") == ["h1.local."])
        let doctor = try await Self.asking(lab, "\(Built.discoverd) doctor")
        #expect(
            doctor.contains { $0.contains("discoverd answers names below local over DNS at \(Self.server)") },
            "\(doctor)")
        for process in [dnsmasq, unbound] { process.signal(SIGKILL) }
        try await daemon.stop()
        try await lab.stop()
    }

    @Test(
        "hostile: no query, loops, slow and silent connections, many questions; who asks well is answered beside them")
    func hostile() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        // As systemd does it: at descriptors from 3 on, with the process' own number.
        let start = """
            import os, socket
            u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); t = socket.socket()
            u.bind(("\(Self.server)", 53)); t.bind(("\(Self.server)", 53)); t.listen(64)
            u2, t2 = os.dup(u.fileno()), os.dup(t.fileno())
            for at, s in ((3, u2), (4, t2)): os.dup2(s, at); os.set_inheritable(at, True)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="2", LISTEN_FDNAMES="dns:dns")
            os.execv("\(Built.discoverd)", ["discoverd", "daemon", "--config", "/run", "--state", "/run/state", "--avahi", "never"])
            """
        let daemon = try lab.exec("h2", "/usr/bin/python3", "-c", start)
        try await daemon.line(.stderr, "serving") { $0.contains("serving") }
        let script = """
            import os, socket, struct, time
            place = ("\(Self.server)", 53)
            def name(text): return b"".join(bytes([len(l)]) + l.encode() for l in text.split(".")) + b"\\0"
            def query(text, kind=1, id=7): return struct.pack(">6H", id, 256, 1, 0, 0, 0) + name(text) + struct.pack(">2H", kind, 1)
            u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.connect(place); u.settimeout(3)
            for bytes_ in [b"", b"x", os.urandom(60000), query("h1.local")[:20], struct.pack(">6H", 7, 256, 65535, 65535, 65535, 65535),
                           struct.pack(">6H", 7, 0x8400, 1, 0, 0, 0) + name("h1.local") + b"\\0\\1\\0\\1",
                           struct.pack(">6H", 7, 256, 1, 0, 0, 0) + b"\\xc0\\x0c\\0\\1\\0\\1"]: u.send(bytes_)
            for n in range(3000): u.send(query("n%d.local" % n, id=n))
            silent = [socket.create_connection(place) for _ in range(100)]
            slow = socket.create_connection(place); slow.send(b"\\0")
            big = socket.create_connection(place); big.send(b"\\xff\\xff" + os.urandom(9000)); big.settimeout(3)
            try: print("big", big.recv(10))
            except OSError: print("big b''")
            deaf = socket.create_connection(place)
            deaf.setblocking(False)
            try:
                for n in range(200000): deaf.send(struct.pack(">H", len(query("h2.local"))) + query("h2.local"))
            except OSError: pass
            v = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); v.connect(place); v.settimeout(5)
            # The 3000 are this machine's questions, too: until they have ended there is no place, and resolvers ask again.
            while True:
                v.send(query("h1.local", id=9)); answer = v.recv(4096)
                if answer[7]: break
                # Of its own answers the kernel drops what finds no room.
                try: u.recv(4096)
                except TimeoutError: pass
            print(socket.inet_ntoa(answer[-4:]))
            two = socket.create_connection(place); two.settimeout(5)
            for kind in (1, 28): two.send(struct.pack(">H", len(query("h1.local"))) + query("h1.local", kind))
            got = b""
            while got.count(b"local") < 2: got += two.recv(4096)
            print("two", struct.unpack(">H", got[:2])[0] < len(got), socket.inet_aton("10.77.0.1") in got)
            def is_open(s):
                s.setblocking(False)
                try: return bool(s.recv(1))
                except BlockingIOError: return True
                except OSError: return False
            kept = sum(is_open(s) for s in silent)
            print("kept", 0 < kept <= 16 or kept)
            begun = time.monotonic(); slow.settimeout(9)
            try: print("slow", slow.recv(10), time.monotonic() - begun < 8)
            except OSError: print("slow b'' True")
            # Those who wait for the link are not replaced: further ones are refused.
            waiting, answered = [], {}
            for _ in range(40):
                s = socket.create_connection(place); waiting.append(s)
                try: s.send(struct.pack(">H", len(query("nobody.local"))) + query("nobody.local"))
                except OSError: pass
                # It has been read when a turn of the daemon is over.
                for _ in range(2): v.send(query("h1.local")); v.recv(4096)
            for s in waiting:
                s.settimeout(5)
                try: answered[s] = len(s.recv(4096)) > 0
                except OSError: answered[s] = False
            print("waiting", 0 < sum(answered.values()) < 40)
            """
        let run = try await lab.toEnd("h2", ["/usr/bin/python3", "-c", script], within: .seconds(60))
        #expect(
            run.output == ["big b''", "10.77.0.1", "two True True", "kept True", "slow b'' True", "waiting True"]
                && run.exit == .exited(0), "\(run)")
        try await daemon.stop()
        try await lab.stop()
    }
}
