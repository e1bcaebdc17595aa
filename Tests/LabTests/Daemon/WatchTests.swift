import Foundation
import Testing

/// `status --watch` and `ls --watch`.
@Suite("following the daemon", .labSlot)
struct WatchTests {
    @Test("lines that come and go, and JSON, while services are published and the daemon restarts; Ctrl-C ends with 0")
    func lines() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        let (list, json) = (
            try lab.discoverd("h1", "ls", "--watch"), try lab.discoverd("h1", "ls", "--watch", "--json")
        )
        let status = try lab.discoverd("h1", "status", "--watch")
        try await status.line(.stdout, "the status") {
            $0.hasPrefix("+\tdaemon\trunning, version ") && !$0.contains(", up ")
        }
        let states = try lab.discoverd("h1", "status", "--watch", "--json")
        try await states.line(.stdout, "the status") { $0.hasPrefix("{") && $0.contains(#""registrations":[]"#) }
        let server = try lab.exec("h1", "nc", "-lk", "9000")
        defer { server.signal(SIGTERM) }
        let publisher = try await lab.publish("h1", "tony", "9000")
        try await list.line(.stdout, "tony") { $0 == "+\testablished\ttony\t_witap._tcp\t9000\tattached\t\t" }
        try await json.json("tony") { $0.event == "added" && $0.name == "tony" }
        try await status.line(.stdout, "tony") {
            $0 == "+\tservices\t1 published"
        }
        try await states.line(.stdout, "tony") { $0.contains(#""name":"tony""#) }
        try await publisher.stop()
        try await list.line(.stdout, "its end") { $0 == "-\testablished\ttony\t_witap._tcp\t9000\tattached\t\t" }
        try await json.json("its end") { $0.event == "removed" }
        try await daemon.stop()
        try await list.line(.stderr, "that the daemon is away") { $0.contains("the daemon does not answer") }
        let again = try await LabDaemon.start(on: "h1", of: lab)
        try await list.line(.stderr, "that it is back") { $0.hasSuffix("the daemon answers again") }
        for process in [list, json, status, states] {
            process.signal(SIGINT)
            #expect(try await process.exit() == .exited(0))
        }
        try await again.stop()
        #expect(try await lab.ask("h1", "ls", "--watch").exit == .exited(69))
        try await lab.stop()
    }

    @Test("a file that has no more room ends it with 74: the daemon is not away")
    func full() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        let server = try lab.exec("h1", "nc", "-lk", "9000")
        defer { server.signal(SIGTERM) }
        let first = try await lab.publish("h1", "first", "9000")
        // The limit of a file's size stands for a disk that becomes full.
        let script = """
            trap '' XFSZ; file=$(mktemp)
            '\(Built.discoverd)' status --services --live >$file & pid=$!
            until grep -q first $file; do sleep 0.1; done
            prlimit --pid $pid --fsize=1:1; echo full
            wait $pid; echo "status=$?"; rm $file
            """
        let list = try lab.exec("h1", ["/bin/bash", "-c", script])
        try await list.line { $0 == "full" }
        let second = try await lab.publish("h1", "second", "9000")
        try await list.line { $0 == "status=74" }
        #expect(!list.lines(.stderr).contains { $0.contains("the daemon does not answer") })
        for publisher in [first, second] { try await publisher.stop() }
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("on a terminal a screen stays in place and follows; q and Ctrl-C leave the terminal as it was")
    func screen() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        let screen = try await TerminalScreen(lab, "h1")
        let before = try await screen.settings()
        try await screen.run("clear; \(Built.discoverd) ls --watch; echo \"status=$?\"")
        try await screen.shows("headings") {
            $0.first == "discoverd status --services" && $0.contains { $0.hasPrefix("STATE") }
        }
        let server = try lab.exec("h1", "nc", "-lk", "9000")
        defer { server.signal(SIGTERM) }
        let publisher = try await lab.publish("h1", "tony 東京", "9000")
        try await screen.shows("what is published") { $0.contains { $0.hasPrefix("published   tony 東京") } }
        try await publisher.stop()
        try await screen.shows("its end") { !$0.contains { $0.contains("tony") } }
        try await screen.resize(columns: 30, rows: 6)
        try await screen.shows("a smaller screen") { $0.count == 6 && $0.last == "q quit" }
        try await screen.press("q")
        try await screen.shows("status=0")
        try await screen.resize(columns: 80, rows: 24)
        #expect(try await screen.settings() == before)
        try await screen.run("clear; \(Built.discoverd) status --watch; echo \"status=$?\"")
        try await screen.shows("the status") { $0.contains { $0.hasPrefix("daemon     running") } }
        // A look waits for a daemon that hangs, and a person does not.
        let hung = try daemon.process
        hung.signal(SIGSTOP)
        try await Task.sleep(for: .seconds(2))
        let pressed = ContinuousClock.now
        try await screen.press("q")
        try await screen.shows("status=0")
        #expect(ContinuousClock.now - pressed < .seconds(4))
        hung.signal(SIGCONT)
        #expect(try await screen.settings() == before)
        try await screen.run("clear; \(Built.discoverd) status --watch; echo \"status=$?\"")
        try await screen.shows("the status again") { $0.contains { $0.hasPrefix("daemon     running") } }
        try await daemon.stop()
        try await screen.shows("that the daemon is away") { $0.last?.hasPrefix("the daemon does not answer") == true }
        try await screen.press("C-c")
        try await screen.shows("status=0")
        #expect(try await screen.settings() == before)
        try await screen.close()
        try await lab.stop()
    }
}
