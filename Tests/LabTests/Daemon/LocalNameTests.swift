import Foundation
import Testing

/// Names below `local` for programs that know nothing of multicast DNS: Debian's libnss-mdns asks the daemon.
@Suite(
    "names for every program", .labSlot,
    .enabled(if: MDNSLibrary.isThere, "libnss-mdns is not there: .ci/deps test"))
struct LocalNameTests {
    private static let socket = "/run/avahi-daemon/socket"

    private static func daemon(_ lab: Lab) async throws -> LabDaemon {
        let daemon = try LabDaemon(lab, "h2", socket: LabDaemon.systemSocket)
        try daemon.configure("nss: true\n")
        try await daemon.start("--avahi", "never")
        try await Self.says(daemon, "answered at \(Self.socket)")
        return daemon
    }

    @Test(
        "getent and Python find hosts of the link on a host without avahi-daemon; nobody's name is answered within a second"
    )
    func found() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        let daemon = try await Self.daemon(lab)
        let server = try lab.exec("h1", "/usr/bin/python3", "-um", "http.server", "8080", "--directory", "/run/lab")
        try await server.line(.stdout, "serving") { $0.contains("Serving") }
        let names = try await MDNSLibrary.asking(
            lab, "h2", "getent ahostsv4 h1.local; getent hosts 10.77.0.1; getent hosts 192.0.2.1")
        #expect(names.output.first?.hasPrefix("10.77.0.1") == true, "\(names)")
        #expect(names.output.last?.hasSuffix("h1.local") == true && names.output.count == 4, "\(names)")
        let page = try await MDNSLibrary.asking(
            lab, "h2",
            "python3 -c 'import urllib.request as r; print(r.urlopen(\"http://h1.local:8080/\").status)'")
        #expect(page.output == ["200"], "\(page)")
        let nobody = try await MDNSLibrary.asking(
            lab, "h2", "s=$(date +%s%N); getent ahosts nobody.local; echo $? $((($(date +%s%N) - s) / 1000000))")
        let words = try #require(nobody.output.last?.split(separator: " ").compactMap { Int($0) })
        // Not before others could answer.
        #expect(words.count == 2 && words[0] == 2 && words[1] >= 500, "\(nobody)")
        for process in [server] { process.signal(SIGKILL) }
        try await daemon.stop()
        #expect(
            try await lab.toEnd("h2", ["/usr/bin/test", "-e", Self.socket], within: .seconds(5)).exit == .exited(1))
        try await lab.stop()
    }

    @Test("avahi-daemon gets its path when it starts, and the daemon has it again when that ends")
    func handedOver() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        let daemon = try await Self.daemon(lab)
        try await lab.avahi("h2", "start")
        try await Self.says(daemon, "another program answers at")
        let status = try await daemon.ask("status").output
        #expect(
            status.contains { $0.hasPrefix("nss\tdoes not answer at \(Self.socket): another program") }, "\(status)")
        #expect(try await Self.help(lab).contains("+ Available commands are:"))
        try await lab.avahi("h2", "term")
        try await Self.says(daemon, "answered at \(Self.socket)", times: 2)
        #expect(try await Self.help(lab).hasPrefix("+ discoverd"))
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("where avahi-daemon is there first, the daemon takes nothing")
    func second() async throws {
        let lab = try await Lab.start()
        let daemon = try LabDaemon(lab, "h2", socket: LabDaemon.systemSocket)
        try daemon.configure("nss: true\n")
        try await daemon.start()
        try await Self.says(daemon, "another program answers at")
        #expect(try await Self.help(lab).contains("+ Available commands are:"))
        try await lab.avahi("h2", "term")
        try await Self.says(daemon, "answered at \(Self.socket)")
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("another host does not take this machine's name here; a socket that a service manager passed may be blocking")
    func inherited() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        // As systemd does it: at descriptor 3, with the process' own number.
        let script = """
            import os, socket
            s = socket.socket(socket.AF_UNIX); os.makedirs("/run/avahi-daemon", exist_ok=True)
            s.bind("\(Self.socket)"); s.listen(8); os.dup2(s.fileno(), 3); os.set_inheritable(3, True)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="nss")
            os.execv("\(Built.discoverd)", ["discoverd", "daemon", "--config", "/run", "--state", "/run/state", "--avahi", "never"])
            """
        let daemon = try lab.exec("h2", "/usr/bin/python3", "-c", script)
        try await daemon.line(.stderr, "serving") { $0.contains("serving") }
        for _ in 0..<3 { #expect(try await Self.help(lab).hasPrefix("+ discoverd")) }
        let forger = try await lab.inject("h1", #"{"records":[{"name":"h2.local","type":"A","address":"10.77.0.66"}]}"#)
        let own = try await lab.bash(
            "h2", "echo RESOLVE-HOSTNAME-IPV4 h2.local | socat -,ignoreeof UNIX-CONNECT:\(Self.socket)")
        #expect(own.output == ["+ 2 0 h2.local 10.77.0.2"], "\(own)")
        forger.signal(SIGTERM)
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("an alias leads to a host of the link; what it says of other domains is asked of nobody")
    func aliases() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        let daemon = try await Self.daemon(lab)
        let records = ["wiki.local": "h1.local", "evil.local": "www.example.org"].map {
            #"{"name":"\#($0.key)","type":"CNAME","target":"\#($0.value)"}"#
        }
        let other = try await lab.inject("h1", #"{"records":[\#(records.joined(separator: ","))]}"#)
        // Questions for addresses, as bytes of a packet.
        let script = """
            import socket
            s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)); s.bind(("eth0", 0)); print("ready", flush=True)
            names = {"evil": b"\\x04evil\\x05local\\0", "example": b"\\x03www\\x07example\\x03org\\0"}
            while True:
                packet = s.recv(65535)
                for text, name in names.items():
                    if any(name + kind in packet for kind in (b"\\0\\x01\\0\\x01", b"\\0\\x1c\\0\\x01")): print(text, flush=True)
            """
        let listener = try lab.exec("h1", "/usr/bin/python3", "-c", script)
        try await listener.line { $0 == "ready" }
        let found = try await MDNSLibrary.asking(
            lab, "h2", "getent ahostsv4 wiki.local; getent ahostsv4 evil.local; echo $?")
        #expect(found.output.first?.hasPrefix("10.77.0.1") == true && found.output.last == "2", "\(found)")
        try await listener.line { $0 == "evil" }
        #expect(!listener.lines().contains("example"))
        for process in [listener, other] { process.signal(SIGKILL) }
        try await daemon.stop()
        try await lab.stop()
    }

    private static func says(_ daemon: LabDaemon, _ text: String, times: Int = 1) async throws {
        let process = try daemon.process
        try await eventually(within: .seconds(20), "\(text): \(process.lines(.stderr))") {
            process.lines(.stderr).count { $0.contains(text) } >= times ? true : nil
        }
    }

    private static func help(_ lab: Lab) async throws -> String {
        try await lab.bash("h2", "echo HELP | socat -,ignoreeof UNIX-CONNECT:\(socket)").output.first ?? ""
    }

    @Test("hostile lines: too long, unfinished, many at once, none; who asks well is answered beside them")
    func hostile() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        let daemon = try await Self.daemon(lab)
        let script = """
            import os, socket, time
            def connect():
                s = socket.socket(socket.AF_UNIX); s.connect("\(Self.socket)"); s.settimeout(10); return s
            def ask(line):
                s = connect(); s.sendall(line)
                try: return s.recv(4096)
                except ConnectionResetError: return b""
            silent = [connect() for _ in range(300)]
            ask(b"x" * 5000)
            print(ask(b"\\0\\xff\\n")[:3], ask(b"RESOLVE-HOSTNAME-IPV4 " + b"a." * 300 + b"local\\n")[:3])
            print(ask(b"RESOLVE-HOSTNAME-IPV4 h1.local\\nRESOLVE-HOSTNAME-IPV4 h2.local\\n").count(b"\\n"))
            half = connect(); half.sendall(b"RESOLVE-"); start = time.monotonic()
            print(half.recv(10), time.monotonic() - start < 8)
            print(ask(b"RESOLVE-HOSTNAME-IPV4 h1.local\\n").decode().split()[-1])
            """
        let run = try await lab.toEnd("h2", ["/usr/bin/python3", "-c", script], within: .seconds(40))
        #expect(
            run.output == ["b'-21' b'-3 '", "1", "b'' True", "10.77.0.1"] && run.exit == .exited(0), "\(run)")
        try await daemon.stop()
        try await lab.stop()
    }
}
