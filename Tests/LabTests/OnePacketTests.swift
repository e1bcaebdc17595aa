import Foundation
import Testing

/// A packet that crashes avahi-daemon while a lookup of its records is open (docs/decisions/0014-nothing-is-held.md).
@Suite("one packet", .labSlot)
struct OnePacketTests {
    private static let count = 20

    /// At the type's name everything dies that browses through avahi-daemon, so that only the wire is asked.
    private static let browses = Everything.of(
        [
            ("wire", "host"), ("wire", "service"), ("wire", "beside"), ("wire", "type"), ("avahi", "host"),
            ("avahi", "service"), ("avahi", "beside"),
        ], inAChange: [("wire", "type"), ("avahi", "service")])

    @Test("browse -r: avahi-daemon of the host that browses outlives twenty", arguments: browses)
    func browse(by finder: String, at place: String) async throws {
        let lab = try await Lab.start(hosts: 3)
        let before = try await lab.avahi("h2", "pid")
        let browser = try lab.discoverd(
            "h2", "browse", "_witap._tcp", "-r", "--json", "--no-daemon", "--finder", finder)
        try await browser.json("settled") { $0.event == "settled" }
        try await attack(lab, at: place)
        // All were seen and looked up.
        try await browser.json(within: .seconds(20), "the last") { $0.service?.name == "x-\(Self.count - 1)" }
        try await outlived(lab, before, browser)
        try await lab.stop()
    }

    @Test(
        "the daemon: avahi-daemon outlives twenty, of a type that it keeps warm",
        arguments: Everything.of(["host", "service"] + (Lab.isOnWire ? ["type"] : []), inAChange: ["service"]))
    func daemon(at place: String) async throws {
        let lab = try await Lab.start(hosts: 3)
        let before = try await lab.avahi("h2", "pid")
        let daemon = try await LabDaemon.start(on: "h2", of: lab, "browse: [_witap._tcp]\nfinder: wire\n")
        let browser = try lab.discoverd("h2", "browse", "_witap._tcp", "-r", "--json")
        try await attack(lab, at: place)
        try await browser.json(within: .seconds(20), "the last") { $0.service?.name == "x-\(Self.count - 1)" }
        try await outlived(lab, before, browser)
        try await daemon.stop()
        try await lab.stop()
    }

    @Test(
        "resolve and connect, twenty each, with and without the daemon, which keeps each query for a while",
        arguments: Everything.of([("wire", false), ("wire", true), ("avahi", false)], inAChange: [("wire", true)]))
    func byName(by finder: String, withDaemon: Bool) async throws {
        let lab = try await Lab.start(hosts: 3)
        let before = try await lab.avahi("h2", "pid")
        let daemon = withDaemon ? try await LabDaemon.start(on: "h2", of: lab, "finder: \(finder)\n") : nil
        let own = withDaemon ? [] : ["--finder", finder]
        let attacker = try lab.python("h3", "alias.py", "_witap._tcp", "x", "--ask", "--count", "\(2 * Self.count)")
        let sentinel = try await lab.avahiPublish("h1", "good", "_witap._tcp", "9000")
        // A few at a time: each waits 3 s for what does not come.
        var asking: [LabProcess] = []
        for number in 0..<(2 * Self.count) {
            let command = number.isMultiple(of: 2) ? ["resolve"] : ["connect", "--probe"]
            if asking.count == 4 { _ = try await asking.removeFirst().exit(within: .seconds(15)) }
            asking.append(
                try lab.exec("h2", [Built.discoverd] + command + ["x-\(number)", "--timeout", "3"] + own))
            attacker.write("\n")
            try await attacker.line(.stdout, "sent") { $0 == "x-\(number)" }
        }
        for process in asking { _ = try await process.exit(within: .seconds(15)) }
        let good = try await lab.toEnd("h2", [Built.discoverd, "resolve", "good"] + own, within: .seconds(15))
        #expect(good.exit == .exited(0))
        // Until the last record has expired.
        try await Task.sleep(for: .seconds(2))
        #expect(try await lab.avahi("h2", "pid") == before)
        sentinel.signal(SIGINT)
        try await daemon?.stop()
        try await lab.stop()
    }

    private func attack(_ lab: Lab, at place: String) async throws {
        for ttl in [1, 2] {
            let attacker = try lab.python(
                "h3", "alias.py",
                ["_witap._tcp", ttl == 1 ? "y" : "x", "--at", place, "--ttl", "\(ttl)", "--count", "\(Self.count)"])
            #expect(try await attacker.exit(within: .seconds(60)) == .exited(0), "\(attacker.lines(.stderr))")
        }
        // Until the last record has expired.
        try await Task.sleep(for: .seconds(3))
    }

    private func outlived(_ lab: Lab, _ before: [String], _ browser: LabProcess) async throws {
        #expect(try await lab.avahi("h2", "pid") == before)
        let sentinel = try await lab.avahiPublish("h1", "good", "_witap._tcp", "9000")
        try await browser.json("what is good") { $0.service?.name == "good" && $0.service?.state == "resolved" }
        #expect(!browser.lines().contains { $0.contains(#""state":"lost""#) })
        sentinel.signal(SIGINT)
        try await browser.stop()
    }
}
