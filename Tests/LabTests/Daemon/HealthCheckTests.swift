import Foundation
import Glibc
import Testing

/// Services that are advertised only while they work.
@Suite("health-gated advertising", .labSlot)
struct HealthCheckTests {
    /// An independent web server on the tests' port.
    private func webServer(_ lab: Lab) throws -> LabProcess {
        try lab.exec("h1", "/usr/bin/python3", "-m", "http.server", "8080", "--directory", Lab.scripts)
    }

    @Test("a web server that stops is withdrawn with its reason, comes back with it, and is held back when it flaps")
    func webServerStops() async throws {
        let lab = try await Lab.start()
        let daemon = try LabDaemon(lab)
        let process = try await daemon.start()
        let browser = try lab.discoverd("h2", "browse", "_http._tcp", "--json", "--no-daemon")
        var server = try webServer(lab)
        let published = try await daemon.ask(
            "publish", "web", "8080", "--type", "_http._tcp", "--detach", "--check", "http:/", "--check-interval", "1",
            "--fall", "2", "--rise", "1")
        #expect(published.exit == .exited(0))
        try await browser.json(within: .seconds(20), "added") { $0.tells("added", "web") }

        let stopped = ContinuousClock.now
        server.signal(SIGKILL)
        _ = try await server.exit()
        try await process.line(.stderr, within: .seconds(30), "withdrawn") {
            $0.contains("\"web\"") && $0.contains("is withdrawn: its check fails") && $0.contains("Connection refused")
        }
        // interval x fall + 2 s
        #expect(stopped.duration(to: .now) < .seconds(4))
        try await daemon.until("web", "withheld") {
            $0.state == "withheld" && $0.reason?.contains("Connection refused") == true
        }
        try await browser.json(within: .seconds(20), "removed") { $0.tells("removed", "web") }

        server = try webServer(lab)
        try await process.line(.stderr, within: .seconds(30), "back") { $0.contains("is published: its check passes") }
        try await browser.json(within: .seconds(20), "added again") { $0.tells("added", "web") }

        // Their second failure in a row is held back for 10 s.
        server.signal(SIGKILL)
        try await process.line(.stderr, within: .seconds(30), "withdrawn again") {
            $0.contains("is withdrawn: its check")
        }
        server = try webServer(lab)
        try await daemon.until("web", "held back") { $0.reason?.contains("held back") == true }
        try await process.line(.stderr, within: .seconds(30), "back at last") { $0.contains("is published: its check") }
        try await process.stop()
        try await lab.stop()
    }

    @Test("every kind of check withholds what does not work, and a port at which nothing listens is a warning")
    func kinds() async throws {
        let lab = try await Lab.start()
        let daemon = try LabDaemon(lab)
        let file = "\(daemon.directory)/works"
        try daemon.configure(
            """
            services:
              - {name: tcp, type: _witap._tcp, port: 8081, check: tcp}
              - {name: exec, type: _witap._tcp, port: 8082, check: {exec: [test, -e, "\(file)"], interval: 500ms, rise: 1}}
              - {name: unit, type: _witap._tcp, port: 8083, check: "unit:no-such.service"}
              - {name: pid, type: _witap._tcp, port: 8084, check: "pid:\(getpid())"}
              - {name: dead, type: _witap._tcp, port: 8085, check: "pid:2147483647"}
              - {name: plain, type: _witap._tcp, port: 8086}
              - {name: datagrams, type: _witap._udp, port: 5353}
            """)
        let process = try await daemon.start()
        for name in ["tcp", "exec", "unit", "dead"] {
            try await daemon.until(name, "withheld") { $0.state == "withheld" && $0.reason != nil }
        }
        let late = try await daemon.ask(
            "publish", "late", "8087", "--type", "_witap._tcp", "--check", "tcp", "--detach", "--timeout", "1")
        #expect(late.exit == .exited(1) && late.output.contains { $0.hasPrefix("withheld late") }, "\(late)")
        try await daemon.until("pid", "published") { $0.state == "established" }
        try await daemon.until("plain", "published with a warning") {
            $0.state == "established" && $0.warning?.contains("nothing listens at TCP port 8086") == true
        }
        #expect(process.lines(.stderr).contains { $0.contains("warning") && $0.contains("TCP port 8086") })
        try await daemon.until("datagrams", "published") { $0.state == "established" && $0.warning == nil }

        try "".write(toFile: file, atomically: true, encoding: .utf8)
        try await daemon.until("exec", "published") { $0.state == "established" }
        let listener = try lab.exec("h1", "/usr/bin/python3", "-m", "http.server", "8086", "--directory", Lab.scripts)
        try await daemon.until("plain", "without a warning") { $0.warning == nil }
        listener.signal(SIGKILL)
        try await process.stop()
        try await lab.stop()
    }
}
