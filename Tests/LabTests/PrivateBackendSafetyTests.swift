import Foundation
import Testing

/// What a private backend must not do: hold privileges, run beside the machine's own avahi-daemon, leave files.
@Suite("The private backend, kept small", .labSlot)
struct PrivateBackendSafetyTests {
    private static let noBus = ["/usr/bin/env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/nowhere"]

    /// A line of /proc/PID/status, without its key.
    private func status(_ process: Int32, _ key: String) throws -> [String] {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(key + ":") })
        return line.split(whereSeparator: \.isWhitespace).dropFirst().map(String.init)
    }

    /// The private backend's daemons on h1, found by its directory in their command lines, because /proc shows every lab.
    private func daemons(_ lab: Lab) async throws -> [Int32] {
        let names = try await lab.toEnd("h1", ["ls", "/run", "/run/user"], within: .seconds(5)).output
        guard let name = names.first(where: { $0.hasPrefix("discoverd-") && !$0.contains(".") }) else { return [] }
        return try await lab.toEnd("h1", ["pgrep", "-f", "(dbus|avahi)-daemon .*/\(name)/"], within: .seconds(5)).output
            .compactMap { Int32($0) }
    }

    @Test(
        "started by root neither daemon has a capability; where there are other users they are not root's either",
        arguments: [false, true])
    func privileges(_ hasUsers: Bool) async throws {
        guard !hasUsers || geteuid() == 0 else { return }
        let lab = try await (hasUsers ? Lab.start("--no-avahi", "h1", "--users") : Lab.start("--no-avahi", "h1"))
        let publisher = try lab.exec(
            "h1", Self.noBus + [Built.discoverd, "publish", "tony", "9000", "--json", "--backend", "private"])
        try await publisher.json("established") { $0.state == "established" }
        let processes = try await daemons(lab)
        #expect(processes.count == 2)
        for process in processes {
            for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
                #expect(try status(process, set) == ["0000000000000000"], "\(set)")
            }
            #expect(try status(process, "NoNewPrivs") == ["1"])
            guard hasUsers else { continue }
            let user = try #require(try status(process, "Uid").first.flatMap { UInt32($0) })
            #expect(try status(process, "Uid").allSatisfy { $0 == String(user) } && user > 0)
            #expect(try status(process, "Groups").isEmpty)
            let avahi = try #require(getpwnam("avahi") ?? getpwnam("nobody"))
            #expect(user % 65536 == avahi.pointee.pw_uid)
        }
        // After being killed, both are started again, again without privileges.
        for process in processes { kill(process, SIGKILL) }
        try await publisher.json("waiting") { $0.state == "waiting" }
        try await publisher.json("established again") { $0.state == "established" }
        for process in try await daemons(lab) { #expect(try status(process, "CapEff") == ["0000000000000000"]) }
        try await publisher.stop()
        try await lab.stop()
    }

    /// What is left of the private backend on h1.
    private func left(_ lab: Lab) async throws -> [String] {
        try await lab.toEnd(
            "h1",
            ["sh", "-c", "ls -d /run/discoverd-* /run/user/discoverd-* /tmp/discoverd-????????????? 2>/dev/null"],
            within: .seconds(5)
        ).output
    }

    @Test("nothing is left after a clean end, nor after SIGKILL; who takes over while another ends shares it")
    func leavesNothing() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        for number in [SIGTERM, SIGKILL] {
            let publisher = try lab.exec("h1", Self.noBus + [Built.discoverd, "publish", "a", "9000", "--json"])
            try await publisher.json("established") { $0.state == "established" }
            #expect(try await left(lab).count == 3, "the directory, the link, and the lock")
            publisher.signal(number)
            _ = try await publisher.exit()
            let end = ContinuousClock.now + .seconds(3)
            // Nothing reports it.
            while try await !left(lab).isEmpty, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try await left(lab).isEmpty, "after signal \(number)")
        }
        try await lab.stop()
    }

    @Test("auto hands over to the system's avahi-daemon within 5 s of its appearance, with all that was known")
    func handsOver() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let far = try await lab.publish("h2", "far", "9000")
        let publisher = try lab.discoverd("h1", "publish", "near", "9000", "--json")
        try await publisher.json("established") { $0.state == "established" }
        // Shares the private one of the other process.
        let browser = try lab.discoverd("h1", "browse", "_witap._tcp", "-r", "--json", "--finder", "avahi")
        try await browser.json("settled") { $0.event == "settled" }
        #expect(try await daemons(lab).count == 2)
        let watcher = try lab.discoverd("h2", "browse", "_witap._tcp", "-r", "--json")
        try await watcher.json("added") { $0.tells("added", "near") }

        let start = ContinuousClock.now
        try await lab.avahi("h1", "start")
        try await publisher.json("waiting") { $0.state == "waiting" }
        try await publisher.json("established again") { $0.state == "established" }
        try await browser.json("recovered") { $0.event == "backend" && $0.state == "recovered" }
        let taken = ContinuousClock.now - start
        #expect(taken < .seconds(5), "\(taken)")
        #expect(try await daemons(lab).isEmpty)
        // New services are found on the system's; no known service was reported lost.
        let second = try await lab.publish("h2", "later", "9001")
        try await browser.json("added") { $0.tells("added", "later") }
        let asked = try await lab.toEnd("h1", ["avahi-browse", "-tp", "_witap._tcp"], within: .seconds(10))
        #expect(asked.output.contains { $0.contains(";near;") }, "\(asked.output)")
        for process in [browser, watcher] {
            #expect(!process.lines().contains { $0.contains(#""removed""#) }, "\(process.lines())")
        }
        for process in [far, second, publisher, browser, watcher] { try await process.stop() }
        try await lab.stop()
    }

    @Test("an explicit private backend ends when the system's appears: commands, the daemon and programs with 69")
    func givesWay() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let daemon = try LabDaemon(lab, "h1", socket: LabDaemon.systemSocket)
        try daemon.configure("services: [{name: d, type: _http._tcp, port: 80}]\n")
        let serving = try await daemon.start("--backend", "private")
        let publisher = try lab.discoverd("h1", "publish", "near", "9000", "--json", "--backend", "private")
        let browser = try lab.discoverd(
            "h1", "browse", "_witap._tcp", "--json", "--backend", "private", "--finder", "avahi")
        let listener = try lab.discoverd("h1", "listen", "ear", "--backend", "private", "--", "cat")
        let program = try lab.exec(
            "h1", [Built.program("stream-hello"), "serve", "--publish", "--backend", "private"])
        try await publisher.json("established") { $0.state == "established" }
        // Either may be first: they were started at the same time.
        let both: Set = ["ear", "near"]
        try await browser.json("added") { $0.event == "added" && both.contains($0.service?.name ?? "") }
        try await browser.json("the other one") { $0.event == "added" && both.contains($0.service?.name ?? "") }
        #expect(Set(try browser.lines().compactMap { try Line($0).service?.name }) == both)

        let start = ContinuousClock.now
        try await lab.avahi("h1", "start")
        for process in [serving, publisher, browser, listener, program] {
            let exit = try await process.exit(within: .seconds(10))
            #expect(exit == .exited(69), "\(process.lines(.stderr))")
            #expect(process.lines(.stderr).contains { $0.contains("system's avahi-daemon has appeared") })
        }
        #expect(ContinuousClock.now - start < .seconds(8))
        #expect(try await daemons(lab).isEmpty)
        try await lab.stop()
    }
}
