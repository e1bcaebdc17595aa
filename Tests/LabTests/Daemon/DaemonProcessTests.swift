import Foundation
import Glibc
import Synchronization
import Testing

/// The daemon as a process, seen from its own host and from another.
@Suite("the daemon as a process", .labSlot)
struct DaemonProcessTests {
    private static let two = """
        services:
          - {name: one, type: _witap._tcp, port: 9000}
          - {name: two, type: _witap._tcp, port: 9001}
        """

    /// Starts a daemon with two services.
    private static func startTwo() async throws -> (Lab, LabDaemon, LabProcess) {
        let lab = try await Lab.start()
        let daemon = try LabDaemon(lab)
        try daemon.configure(two)
        return (lab, daemon, try await daemon.start())
    }

    /// A browser on the other host that has seen these services.
    private static func seen(_ names: [String], _ lab: Lab) async throws -> LabProcess {
        let browser = try lab.discoverd("h2", "browse", "_witap._tcp", "--json", "--no-daemon")
        try await browser.tells("added", of: names)
        return browser
    }

    @Test("SIGTERM: goodbyes are seen on another host, and the daemon has ended within 2 s with status 0")
    func terminated() async throws {
        let (lab, daemon, process) = try await Self.startTwo()
        let browser = try await Self.seen(["one", "two"], lab)
        // An open connection must not delay the goodbyes.
        let watcher = try lab.discoverd("h1", "browse", "_witap._tcp", "--json", "--socket", daemon.socket)
        try await watcher.json("settled") { $0.event == "settled" }

        let start = ContinuousClock.now
        process.signal(SIGTERM)
        #expect(try await process.exit() == .exited(0))
        #expect(start.duration(to: .now) < .seconds(2))
        #expect(!process.lines(.stderr).contains { $0.contains("error") || $0.contains("not sent in time") })
        // Without goodbyes it would take 75 minutes.
        try await browser.tells("removed", of: ["one", "two"])
        #expect(!FileManager.default.fileExists(atPath: daemon.socket))
        try await lab.stop()
    }

    @Test("SIGTERM with 1000 services: ended within 2 s, and the link hears the end of every one", .labAlone)
    func terminatedWithMany() async throws {
        let lab = try await Lab.start()
        let daemon = try LabDaemon(lab)
        let services = (1...1000).map { "  - {name: s\($0), type: _many._tcp, port: \(2000 + $0)}" }
        try daemon.configure("services:\n" + services.joined(separator: "\n") + "\n")
        let process = try await daemon.start("--avahi", "always")
        let browser = try lab.exec("h2", "avahi-browse", "-p", "_many._tcp")
        // Each line is examined once, while the browser's output is locked.
        let seen = Mutex<Set<String>>([])
        try await browser.line(within: .seconds(120), "all are there") { line in
            let fields = line.split(separator: ";").map(String.init)
            guard fields.count > 3, fields[..<3] == ["+", "eth0", "IPv4"] else { return false }
            return seen.withLock { seen in
                seen.insert(fields[3])
                return seen.count == 1000
            }
        }
        browser.signal(SIGTERM)
        // The other host's avahi-daemon loses some where it has no processor: a goodbye is said once.
        let goodbyes = try await lab.goodbyes(of: "_many._tcp", on: "h2")
        let start = ContinuousClock.now
        process.signal(SIGTERM)
        #expect(try await process.exit() == .exited(0))
        #expect(start.duration(to: .now) < .seconds(2))
        // Goodbyes not sent by then are reported; avahi-daemon sends them when it notices the end.
        let left = process.lines(.stderr).compactMap(Self.unsent)
        #expect(left.isEmpty || left.count == 1 && (1...1000).contains(left[0]), "\(left)")
        // avahi-daemon's time, one service after the other.
        try await goodbyes.wait(for: Set((1...1000).map { "s\($0)" }), silence: .seconds(30))
        try await lab.stop()
    }

    @Test(
        "SIGTERM while avahi-daemon hangs: the daemon ends in time, and its goodbyes follow when avahi-daemon goes on")
    func terminatedWhileHung() async throws {
        let (lab, daemon, process) = try await Self.startTwo()
        try await daemon.until("two", "published") { $0.state == "established" }
        let browser = try lab.exec("h2", "avahi-browse", "-p", "_witap._tcp")
        // In any order.
        let seen = Mutex<Set<String>>([])
        @Sendable func areBoth(_ sign: String, _ line: String) -> Bool {
            guard line.hasPrefix("\(sign);eth0;IPv4;") else { return false }
            return seen.withLock { seen in
                seen.insert(line)
                return seen.count { $0.hasPrefix(sign) } == 2
            }
        }
        try await browser.line(within: .seconds(30), "both are there") { areBoth("+", $0) }
        try await lab.avahi("h1", "stop")
        let start = ContinuousClock.now
        process.signal(SIGTERM)
        #expect(try await process.exit() == .exited(0))
        // Within 2 s, plus the time to notice on a busy machine.
        #expect(start.duration(to: .now) < .seconds(3))
        let log = process.lines(.stderr)
        #expect(log.compactMap(Self.unsent) == [2], "\(log)")
        #expect(!log.contains { $0.contains("is withdrawn") }, "\(log)")
        #expect(!FileManager.default.fileExists(atPath: daemon.socket))
        try await lab.avahi("h1", "cont")
        try await browser.line(within: .seconds(30), "both are gone") { areBoth("-", $0) }
        browser.signal(SIGTERM)
        try await lab.stop()
    }

    /// How many goodbyes a log line reports as not sent.
    private static func unsent(_ line: String) -> Int? {
        guard let text = line.split(separator: "goodbyes of ").dropFirst().first, text.contains("were not sent in time")
        else { return nil }
        return text.split(separator: " ").first.flatMap { Int($0) }
    }

    @Test("a reload withdraws nothing that did not change; a wrong one changes nothing and says file and line")
    func reload() async throws {
        let (lab, daemon, process) = try await Self.startTwo()
        let browser = try await Self.seen(["one", "two"], lab)

        try daemon.configure("name: three\ntype: _witap._tcp\nprot: 9002\n", "services.d/three.yaml")
        let wrong = try await daemon.ask("reload")
        #expect(wrong.exit == .exited(78))
        #expect(
            wrong.errors.contains { $0.contains("three.yaml:3:") && $0.contains("\"prot\"") }, "\(wrong)")
        #expect(try await daemon.ask("status").exit == .exited(1))
        #expect(try await daemon.registrations().count == 2)
        let check = try await lab.ask("h1", "daemon", "--check", "--config", "\(daemon.directory)/conf")
        #expect(check.exit == .exited(78) && check.errors.contains { $0.contains("three.yaml:3:") })

        try daemon.configure("name: three\ntype: _witap._tcp\nport: 9002\n", "services.d/three.yaml")
        try daemon.configure(Self.two.replacingOccurrences(of: "9001", with: "9009"))
        let done = try await daemon.ask("reload")
        #expect(done.exit == .exited(0) && done.errors.isEmpty, "\(done)")
        try await browser.json("three") { $0.tells("added", "three") }
        for _ in 0..<100 { process.signal(SIGHUP) }
        try await process.line(.stderr, "the last reload") { $0.contains("read anew") }
        try await daemon.until("two", "published again") { $0.state == "established" }
        #expect(try await daemon.ask("status").exit == .exited(0))
        // Another port is no end.
        #expect(!browser.lines().contains { $0.contains("removed") }, "\(browser.lines())")
        let seen = try await lab.ask("h2", "resolve", "two", "--json", "--no-daemon")
        #expect(seen.output.first?.contains("9009") == true)
        try await process.stop()
        try await lab.stop()
    }

    @Test("only one runs; after SIGKILL the next takes the socket over and publishes what was handed over")
    func killed() async throws {
        let lab = try await Lab.start()
        let daemon = try LabDaemon(lab)
        let first = try await daemon.start()
        #expect(try await daemon.ask("publish", "kept", "9000", "--detach").exit == .exited(0))
        let browser = try await Self.seen(["kept"], lab)

        let second = try await lab.toEnd("h1", [Built.discoverd] + daemon.arguments, within: .seconds(10))
        #expect(second.exit == .exited(1))
        #expect(second.errors.first?.contains("already running (pid \(first.pid)), with its socket in ") == true)

        first.signal(SIGKILL)
        _ = try await first.exit()
        let next = try await daemon.start()
        try await daemon.until("kept", "published again") { $0.state == "established" }
        #expect(!browser.lines().contains { $0.contains("removed") })
        try await next.stop()
        try await lab.stop()
    }

    @Test("a broken registry is set aside and said, and the daemon goes on")
    func brokenState() async throws {
        let lab = try await Lab.start()
        let daemon = try LabDaemon(lab)
        let file = "\(daemon.directory)/state/registrations.json"
        try "{\"v\":1,".write(toFile: file, atomically: true, encoding: .utf8)
        let process = try await daemon.start()
        #expect(process.lines(.stderr).contains { $0.contains("warning") && $0.contains("is broken") })
        #expect(FileManager.default.fileExists(atPath: file + ".corrupt"))
        let status = try await daemon.ask("status")
        #expect(status.exit == .exited(1) && status.output.contains { $0.contains("is broken") })
        #expect(try await daemon.ask("publish", "new", "9000", "--detach").exit == .exited(0))
        #expect(try await daemon.ask("status").exit == .exited(0))
        try await process.stop()
        try await lab.stop()
    }

    @Test("a registry of a newer version is left alone: the daemon ends with 78")
    func newerState() async throws {
        let lab = try await Lab.start()
        let daemon = try LabDaemon(lab)
        let file = "\(daemon.directory)/state/registrations.json"
        let content = #"{"v":2,"checksum":"0","registrations":[]}"# + "\n"
        try content.write(toFile: file, atomically: true, encoding: .utf8)
        let run = try await lab.toEnd(
            "h1", [Built.discoverd] + daemon.arguments + ["--state", "\(daemon.directory)/state"],
            within: .seconds(20))
        #expect(run.exit == .exited(78) && run.failure?.contains("format 2, of a newer discoverd") == true, "\(run)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == content)
        #expect(!FileManager.default.fileExists(atPath: daemon.socket), "nobody would answer there")
        try await lab.stop()
    }

    @Test("a changed configuration counts by itself, a wrong one leaves the old; with reload: explicit only when asked")
    func changes() async throws {
        let lab = try await Lab.start(hosts: 1)
        let daemon = try await LabDaemon.start(on: "h1", of: lab, "log-level: info\n")
        func published(_ names: Set<String>) async throws {
            _ = try await daemon.curl("/v1/registrations") {
                Set(try $0.objects("registrations").compactMap { $0["name"] as? String }) == names
            }
        }
        try daemon.configure("{name: one, type: _http._tcp, port: 80}", "services.d/one.yaml")
        try await published(["one"])
        try daemon.configure("{name: two, type: _http._tcp, prot: 80}", "services.d/two.yaml")
        _ = try await daemon.curl("/v1/status") { $0.text.contains("the configuration on disk is wrong") }
        try await published(["one"])
        try daemon.configure("{name: two, type: _http._tcp, port: 80}", "services.d/two.yaml")
        try await published(["one", "two"])
        _ = try await daemon.curl("/v1/status") { !$0.text.contains("the configuration on disk is wrong") }
        try daemon.configure("reload: explicit\n")
        _ = try await daemon.curl("/v1/reload", "-X", "POST")
        try daemon.configure("{name: three, type: _http._tcp, port: 80}", "services.d/three.yaml")
        try await daemon.process.line(.stderr, "that it is not read") { $0.contains("'discoverd reload' reads it") }
        try await published(["one", "two"])
        _ = try await daemon.curl("/v1/reload", "-X", "POST")
        try await published(["one", "two", "three"])
        try daemon.configure("reload: explicit\ndns: 127.0.0.7\nnss: true\n")
        let reload = try await daemon.ask("reload")
        #expect(
            reload.exit == .exited(0) && reload.errors.contains { $0.contains("read at the start only: nss, dns") },
            "\(reload)")
        // Version 1 answers as it always did.
        let old = try await daemon.curl("/v1/reload", "-X", "POST")
        #expect(old.status == 204 && old.text.isEmpty, "\(old)")
        try await daemon.stop()
        try await lab.stop()
    }
}
