import Glibc
import Testing

/// avahi-daemon disappears and returns under running commands.
@Suite("avahi-daemon restarts", .labSlot)
struct RestartTests {
    @Test("browse says so, keeps what it knows, and goes on; publish is established again")
    func killed() async throws {
        let lab = try await Lab.start()
        let publisher = try lab.discoverd("h1", "publish", "tony", "9000", "--json", "--avahi", "always")
        try await publisher.json("established") { $0.state == "established" }
        let browser = try lab.discoverd("h2", "browse", "_witap._tcp", "-r", "--json", "--finder", "avahi")
        try await browser.json("added") { $0.tells("added", "tony") }

        try await lab.avahi("h2", "kill")
        try await browser.json("lost") { $0.event == "backend" && $0.state == "lost" }
        try await lab.avahi("h2", "start")
        try await browser.json("recovered") { $0.event == "backend" && $0.state == "recovered" }

        try await lab.avahi("h1", "kill")
        try await publisher.json("waiting") { $0.state == "waiting" }
        try await lab.avahi("h1", "start")
        let again = try await publisher.json("established again") { $0.state == "established" }
        #expect(again.name == "tony")

        let second = try await lab.publish("h1", "late", "9001")
        try await browser.json("what came later") { $0.tells("added", "late") }
        #expect(!browser.lines().contains { $0.contains(#""removed""#) }, "\(browser.lines())")
        for process in [browser, publisher, second] { try await process.stop() }
        try await lab.stop()
    }

    @Test("descriptors and threads of a running command are as before after 30 services came and went")
    func nothingGrows() async throws {
        let lab = try await Lab.start()
        let browser = try lab.discoverd("h2", "browse", "_grow._tcp", "-r", "--json")
        try await browser.json("settled") { $0.event == "settled" }
        // The first services start the threads of Swift's pool. Questions that others do not hear have sockets of their own for a while.
        try await comeAndGo("warm", lab, browser)
        let before = try await counts(of: browser, in: lab)
        for round in ["first", "second", "third"] { try await comeAndGo(round, lab, browser) }
        let after = try await counts(of: browser, in: lab)
        #expect(after.descriptors <= before.descriptors && after.threads <= before.threads, "\(before), \(after)")
        try await browser.stop()
        try await lab.stop()
    }

    private func comeAndGo(_ prefix: String, _ lab: Lab, _ browser: LabProcess) async throws {
        let publisher = try lab.exec("h1", Lab.publishMany, "10", prefix, "_grow._tcp")
        try await publisher.line(.stdout, "ready") { $0 == "ready 10" }
        for event in ["added", "removed"] {
            if event == "removed" { publisher.signal(SIGTERM) }
            for _ in 0..<10 {
                try await browser.json("\(event) of 10") {
                    $0.event == event && $0.service?.name.hasPrefix(prefix) == true
                }
            }
        }
    }

    /// Open descriptors, and threads of Avahi's loop.
    private func counts(of process: LabProcess, in lab: Lab) async throws -> (descriptors: Int, threads: Int) {
        let lines = try await lab.run(
            "h2", "sh", "-c",
            "ls /proc/\(process.pid)/fd | wc -l; cat /proc/\(process.pid)/task/*/comm | grep -c ^avahi")
        return (try #require(Int(lines[0])), try #require(Int(lines[1])))
    }
}
