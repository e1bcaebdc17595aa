import Glibc
import Testing

/// Commands that began with a daemon, and go on without it.
@Suite("A daemon that is gone for good", .labSlot)
struct DaemonGoneTests {
    @Test(
        "browse and wait find without it after 5 s, and end nothing for that; one whose socket was named waits for it",
        .labLong)
    func goingOn() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h2", of: lab)
        let stays = try await lab.publish("h1", "stays", "9000", "--type", "_http._tcp")
        let browser = try lab.discoverd("h2", "browse", "_http._tcp")
        let named = try lab.discoverd("h2", "browse", "_http._tcp", "--socket", LabDaemon.systemSocket)
        let wait = try lab.discoverd("h2", "wait", "_http._tcp", "--name", "late", "-v")
        for process in [browser, named] { try await process.line { $0.hasPrefix("+\tstays\t") } }
        try await wait.line(.stderr, "it asks the daemon") { $0.contains("answers") }
        try daemon.process.signal(SIGKILL)
        let start = ContinuousClock.now
        for process in [browser, wait] {
            try await process.line(.stderr, within: .seconds(10), "without it") {
                $0.contains("services are found without it now")
            }
        }
        #expect(start.duration(to: .now) > .seconds(4))
        try await browser.line(.stderr, within: .seconds(5), "it finds") { $0.contains("services are found again") }
        let late = try await lab.publish("h1", "late", "9001", "--type", "_http._tcp")
        // In order, so nothing has ended.
        try await browser.line(within: .seconds(5), "late") { !$0.isEmpty && $0.hasPrefix("+\tlate\t") }
        #expect(try await wait.exit(within: .seconds(5)) == .exited(0))
        try await stays.stop()
        try await browser.line(within: .seconds(10), "its end") { $0.hasPrefix("-\tstays\t") }
        #expect(
            browser.lines().filter { !$0.isEmpty }.map { $0.split(separator: "\t").prefix(2).joined() } == [
                "+stays", "+late", "-stays",
            ])
        #expect(
            named.lines().count { !$0.isEmpty } == 1 && !named.lines(.stderr).contains { $0.contains("without it") })
        for process in [browser, named, late] { process.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test("a daemon that is gone before its first answer to a query: wait goes on without it at once")
    func goneBeforeItsFirst() async throws {
        let lab = try await Lab.start()
        // It answers that it is there, and breaks off everything else.
        let ping = """
            import os, socket
            os.makedirs("/run/discoverd", exist_ok=True)
            s = socket.socket(socket.AF_UNIX)
            s.bind("/run/discoverd/control.sock")
            s.listen(16)
            print("ready", flush=True)
            while True:
                c, _ = s.accept()
                if b"/v1/ping" in c.recv(4096):
                    c.sendall(b"HTTP/1.1 204 No Content\\r\\nConnection: close\\r\\n\\r\\n")
                c.close()
            """
        let daemon = try lab.exec("h2", [Lab.python, "-c", ping])
        try await daemon.line { $0 == "ready" }
        let wait = try lab.discoverd("h2", "wait", "_http._tcp", "--name", "late")
        try await wait.line(.stderr, "without it") { $0.contains("services are found without it now") }
        let late = try await lab.publish("h1", "late", "9001", "--type", "_http._tcp")
        #expect(try await wait.exit(within: .seconds(10)) == .exited(0))
        try await late.stop()
        daemon.signal(SIGKILL)
        try await lab.stop()
    }

    @Test(
        "a daemon that hangs is noticed: browse goes on without it, publish says what it waits for, and nothing ends when the daemon goes on",
        .labLong)
    func hanging() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h2", of: lab)
        let stays = try await lab.publish("h1", "stays", "9000", "--type", "_http._tcp")
        let browser = try lab.discoverd("h2", "browse", "_http._tcp")
        let named = try lab.discoverd("h2", "browse", "_http._tcp", "--socket", LabDaemon.systemSocket)
        for process in [browser, named] { try await process.line { $0.hasPrefix("+\tstays\t") } }
        let own = try await lab.publish("h2", "own", "9000", "--type", "_own._tcp")
        let others = try lab.discoverd("h1", "browse", "_own._tcp")
        try await others.line { $0.hasPrefix("+\town\t") }
        let process = try daemon.process
        process.signal(SIGSTOP)
        try await own.line(.stderr, within: .seconds(10), "it says so") { $0.contains("does not answer") }
        try await browser.line(.stderr, within: .seconds(5), "without it") {
            $0.contains("services are found without it now")
        }
        try await named.line(.stderr, within: .seconds(5), "it says so") { $0.contains("does not answer") }
        let late = try await lab.publish("h1", "late", "9001", "--type", "_http._tcp")
        try await browser.line(within: .seconds(5), "late") { !$0.isEmpty && $0.hasPrefix("+\tlate\t") }
        process.signal(SIGCONT)
        try await own.line(within: .seconds(12), "it is as it was") { $0.hasPrefix("published ") }
        try await named.line(within: .seconds(12), "late") { !$0.isEmpty && $0.hasPrefix("+\tlate\t") }
        #expect(others.lines().count { !$0.isEmpty } == 1, "\(others.lines())")
        for process in [browser, named, others] { process.signal(SIGTERM) }
        for process in [own, stays, late] { try await process.stop() }
        try await daemon.stop()
        try await lab.stop()
    }
}
