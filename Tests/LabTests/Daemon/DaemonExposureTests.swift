import Foundation
import Glibc
import Testing

/// What strangers can learn of the daemon or keep it from doing: other users, other hosts, and anyone who puts something in its place.
@Suite(
    "The daemon among strangers", .labSlot,
    .enabled(if: geteuid() == 0, "a lab with more than one user needs root"))
struct DaemonExposureTests {
    /// Both exist in Debian.
    private static let (user, other) = ("nobody", "daemon")

    private func becoming(_ name: String) -> [String] {
        ["setpriv", "--reuid=\(name)", "--regid=nogroup", "--clear-groups"]
    }

    /// The program, in a place where every user may read it.
    private func program(_ lab: Lab) async throws -> String {
        let path = "/run/lab/bin/discoverd"
        for name in ["discoverd", "discoverd-daemon"] {
            let built = Built.discoverd.replacing(/discoverd$/, with: name)
            try await lab.run("h1", "install", "-D", "-m", "755", built, "/run/lab/bin/\(name)")
        }
        return path
    }

    @Test("what a check runs is for its owner and root; over TCP no reason, user, process or path")
    func checksAreNotShown() async throws {
        let lab = try await Lab.start("--users")
        let configuration = """
            listen: "127.0.0.1:9331"
            services:
              - {name: kept, port: 80, type: _witap._tcp, check: {exec: [/bin/false, s3cret], interval: 1s}}

            """
        let daemon = try await LabDaemon.start(on: "h1", of: lab, configuration)
        try await daemon.until("kept", "withheld") {
            $0.state == "withheld" && $0.reason?.contains("/bin/false") == true
        }
        let curl = ["/usr/bin/curl", "-sS", "--max-time", "30"]
        for target in ["/v1/registrations", "/v1/status"] {
            let all = try await daemon.curl(target).text
            #expect(all.contains("s3cret") && all.contains("\"uid\":"), "\(all)")
            let unix = ["--unix-socket", LabDaemon.systemSocket, "http://localhost\(target)"]
            let some = try await lab.toEnd("h1", becoming(Self.user) + curl + unix, within: .seconds(40)).output
                .joined()
            #expect(some.contains("\"check\":\"exec\"") && some.contains("its check fails"), "\(some)")
            for secret in ["s3cret", "/bin/false", "\"uid\"", "\"pid\""] { #expect(!some.contains(secret), "\(some)") }
            let tcp = try await daemon.curlTCP("http://127.0.0.1:9331\(target)").text
            #expect(tcp.contains("kept") && tcp.contains("withheld"), "\(tcp)")
            for secret in ["s3cret", "/bin/false", "\"uid\"", "\"pid\"", "\"check\"", "\"reason\"", "control.sock"] {
                #expect(!tcp.contains(secret), "\(secret): \(tcp)")
            }
        }
        let status = try await lab.toEnd(
            "h1", becoming(Self.user) + [try await program(lab), "status"], within: .seconds(30))
        #expect(
            status.output.first?.contains("running") == true && !status.output.joined().contains("pid"), "\(status)")
        // An error message quotes the faulty configuration.
        try daemon.configure("services: [{name: a, type: _xx._tcp, port: 1, check: 'exe:s3cret'}]\n")
        #expect(try await daemon.curl("/v1/reload", "-X", "POST").status == 422)
        #expect(try await daemon.curl("/healthz").text.contains("s3cret"))
        let health = try await daemon.curlTCP("http://127.0.0.1:9331/healthz")
        #expect(health.status == 503 && health.text.contains("configuration") && !health.text.contains("s3cret"))
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("who connects and closes again and again makes the daemon busy, not absent")
    func hasty() async throws {
        let lab = try await Lab.start("--users")
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        let script = try String(contentsOfFile: "\(Lab.scripts)/hostile_clients.py", encoding: .utf8)
        let hasty = try lab.exec(
            "h1", becoming(Self.user) + ["/usr/bin/python3", "-c", script, LabDaemon.systemSocket, "hasty"])
        try await hasty.line(within: .seconds(30), "ready") { $0 == "ready" }
        for _ in 0..<12 {
            let run = try await lab.toEnd("h1", [Built.discoverd, "ls"], within: .seconds(60))
            #expect(run.exit == .exited(0), "\(run)")
        }
        hasty.signal(SIGKILL)
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("a host that does not read keeps no other from scraping, and is cut off")
    func greedy() async throws {
        let lab = try await Lab.start(hosts: 3)
        let daemon = try await LabDaemon.start(on: "h1", of: lab, "listen: \"10.77.0.1:9331\"\n")
        let greedy = try lab.exec(
            "h2", ["/usr/bin/python3", "\(Lab.scripts)/hostile_clients.py", "10.77.0.1:9331", "greedy", "8"])
        try await greedy.line(within: .seconds(30), "ready") { $0 == "ready" }
        let scrape = ["/usr/bin/curl", "-sS", "--max-time", "10", "-o", "/dev/null", "-w", "%{http_code}\n"]
        for _ in 0..<5 {
            let run = try await lab.toEnd("h3", scrape + ["http://10.77.0.1:9331/metrics"], within: .seconds(30))
            #expect(run.output == ["200"], "\(run)")
        }
        let cut = try await greedy.line(within: .seconds(30), "cut off") { $0.hasPrefix("cut off") }
        let seconds = try #require(cut.split(separator: " ").last.flatMap { Double($0) })
        #expect((1..<10).contains(seconds), "\(cut)")
        greedy.signal(SIGKILL)
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("a request says once and clearly whom it is for")
    func hosts() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab, "listen: \"127.0.0.1:9331\"\n")
        let url = "http://127.0.0.1:9331/v1/ping"
        let good = try await daemon.curlTCP(url, "-i")
        #expect(good.status == 200 && good.text.lowercased().contains("x-content-type-options: nosniff"), "\(good)")
        for options in [
            ["-H", "Host: localhost:80.evil.com"], ["-H", "Host: localhost:x@evil.com"], ["-H", "Host: [::1]evil.com"],
            ["--request-target", "http://evil.com/v1/ping"],
            ["--request-target", "http://127.0.0.1:9331@evil.com/v1/ping"],
        ] {
            let answer = try await daemon.curlTCP(url, options: options)
            #expect(answer.status == 400 && answer.reason.contains("RFC 9112"), "\(options): \(answer)")
        }
        // curl sends no field twice.
        let twice =
            "import socket; s = socket.create_connection((\"127.0.0.1\", 9331)); s.sendall(b\"GET /v1/ping HTTP/1.1\\r\\n"
            + "Host: 127.0.0.1\\r\\nHost: evil.com\\r\\n\\r\\n\"); print(s.recv(12).decode())"
        let run = try await lab.toEnd("h1", ["/usr/bin/python3", "-c", twice], within: .seconds(20))
        #expect(run.output == ["HTTP/1.1 400"], "\(run)")
        let target = ["--request-target", "http://127.0.0.1:9331/v1/ping"]
        #expect(try await daemon.curlTCP(url, options: target).status == 200)
        #expect(try await daemon.curlTCP(url, "-H", "Sec-Fetch-Site: Cross-Site").status == 403)
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("a socket of another user's is not believed; one of root's making at which another user listens is")
    func trust() async throws {
        let lab = try await Lab.start("--users")
        let discoverd = try await program(lab)
        try await lab.run("h1", "install", "-d", "-m", "755", "-o", Self.other, "/run/lab/theirs")
        let theirs = "/run/lab/theirs/control.sock"
        let daemon = try lab.exec(
            "h1", becoming(Self.other) + [discoverd, "daemon", "--avahi", "always", "--socket", theirs])
        try await daemon.line(.stderr, within: .seconds(30), "serving") { $0.contains("serving \(theirs)") }
        let named = try await lab.toEnd("h1", [discoverd, "ls", "--socket", theirs], within: .seconds(30))
        #expect(named.exit == .exited(77) && named.errors.first?.contains("not trusted") == true, "\(named)")
        let inherited = try await lab.toEnd(
            "h1", ["env", "RUNTIME_DIRECTORY=/run/lab/theirs", discoverd, "browse", "_http._tcp", "-t"],
            within: .seconds(30))
        #expect(inherited.exit == .exited(1) && inherited.errors.joined().contains("not trusted"), "\(inherited)")
        let own = try await lab.toEnd(
            "h1", becoming(Self.other) + [discoverd, "ls", "--socket", theirs], within: .seconds(30))
        #expect(own.exit == .exited(0), "\(own)")
        try await daemon.stop()

        // Like systemd: root creates the socket, and the daemon's user listens.
        try await lab.run("h1", "install", "-d", "-m", "755", "/run/lab/roots", "/run/lab/elsewhere")
        try await lab.run("h1", "install", "-d", "-m", "755", "-o", Self.other, "/run/lab/lock")
        let roots = "/run/lab/roots/control.sock"
        let activated = try lab.exec(
            "h1",
            ["/usr/bin/systemd-socket-activate", "-E", "RUNTIME_DIRECTORY=/run/lab/lock", "-l", roots]
                + becoming(Self.other)
                + [discoverd, "daemon", "--avahi", "always"])
        try await activated.line(.stderr, within: .seconds(30), "listening") { $0.contains("Listening") }
        try await lab.run("h1", "chmod", "666", roots)
        let asked = try await lab.toEnd(
            "h1", becoming(Self.user) + [discoverd, "ls", "--socket", roots], within: .seconds(30))
        #expect(asked.exit == .exited(0), "\(asked)")
        // Like a container: only the socket is mounted into another tree.
        let mounting =
            "touch /run/lab/elsewhere/c.sock && mount --bind \(roots) /run/lab/elsewhere/c.sock && exec \"$@\""
        let mounted = try await lab.toEnd(
            "h1",
            ["unshare", "--mount", "sh", "-c", mounting, "sh"] + becoming(Self.user)
                + [discoverd, "ls", "--socket", "/run/lab/elsewhere/c.sock"], within: .seconds(30))
        #expect(mounted.exit == .exited(0), "\(mounted)")
        activated.signal(SIGKILL)
        try await lab.stop()
    }

    @Test(
        "files have their modes whatever the umask; a pipe in place of the state file is refused at once",
        arguments: Everything.of(["000", "077", "777"], inAChange: ["777"]))
    func modes(_ umask: String) async throws {
        let lab = try await Lab.start()
        let daemon = try LabDaemon(lab)
        let (run, state) = ("\(daemon.directory)/made", "\(daemon.directory)/state/registrations.json")
        #expect(mkfifo(state, 0o600) == 0)
        let process = try lab.exec(
            "h1",
            ["sh", "-c", "umask \(umask); exec \"$@\"", "sh", Built.discoverd, "daemon", "--avahi", "always"]
                + [
                    "--config", "\(daemon.directory)/conf", "--state", "\(daemon.directory)/state", "--socket",
                    "\(run)/s",
                ])
        try await process.line(.stderr, within: .seconds(30), "the pipe") { $0.contains("no regular file") }
        try await process.line(.stderr, within: .seconds(30), "serving") { $0.contains("serving") }
        let publish = try await lab.toEnd(
            "h1", [Built.discoverd, "publish", "a", "9000", "--detach", "--socket", "\(run)/s"],
            within: .seconds(30))
        #expect(publish.exit == .exited(0), "\(publish)")
        let known = "/var/lib/discoverd-root"
        let add = try await lab.bash(
            "h1", "umask \(umask); $discoverd known add @x SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU")
        let modes = try await lab.run(
            "h1", "stat", "-c", "%a", run, "\(run)/lock", "\(run)/s", state, "\(daemon.directory)/state/lock", known,
            "\(known)/known_peers", "\(known)/known_peers.lock")
        #expect(modes == ["755", "600", "666", "600", "600", "700", "600", "600"], "\(add)")
        try await process.stop()
        try await lab.stop()
    }
}
