import Foundation
import Testing

/// docs/tasks.md, played on hosts of the lab: its commands, typed at terminals, show what it shows.
@Suite("docs/tasks.md", .labSlot)
struct TasksTests {
    /// A lab with a terminal on each of two hosts, on which `discoverd` is the built one.
    private struct Desk {
        let lab: Lab
        let screens: [String: TerminalScreen]
        let transcripts: [Transcript]

        init(_ task: String, hosts: Int = 2) async throws {
            transcripts = try ProjectDocument("docs/tasks.md").transcripts(in: task)
            // As the document says: fewer than five commands.
            try #require(transcripts.count == 4)
            lab = try await Lab.start(hosts: hosts)
            var screens: [String: TerminalScreen] = [:]
            for host in ["h1", "h2"] {
                let screen = try await TerminalScreen(lab, host, "PATH=\(Built.directory.path):$PATH")
                // Room for all that one command says.
                try await screen.resize(columns: 80, rows: 60)
                screens[host] = screen
            }
            self.screens = screens
        }

        func play(_ range: Range<Int>) async throws {
            try await Transcript.play(Array(transcripts[range]), on: screens)
        }

        func end() async throws {
            for screen in screens.values { try await screen.close() }
            try await lab.stop()
        }
    }

    /// Something that answers HTTP, over both families.
    private func serve(_ lab: Lab, _ host: String, _ port: String) async throws -> LabProcess {
        let server = try lab.exec(host, "/usr/bin/python3", "-u", "-m", "http.server", "--bind", "::", port)
        try await server.line(.stdout, "serving") { $0.hasPrefix("Serving ") }
        return server
    }

    @Test("a web server with a health check that survives restarts")
    func web() async throws {
        let desk = try await Desk("Publish a web server that survives restarts")
        let daemon = try await LabDaemon.start(on: "h1", of: desk.lab)
        let server = try await serve(desk.lab, "h1", "8080")
        try await desk.play(0..<1)
        try await daemon.killAndRestart()
        try await daemon.until("web", "established") { $0.state == "established" }
        try await desk.play(1..<3)
        server.signal(SIGKILL)
        try await daemon.until("web", "withheld") { $0.state == "withheld" }
        try await desk.play(3..<4)
        try await daemon.stop()
        try await desk.end()
    }

    @Test("why a printer is not found")
    func printer() async throws {
        let desk = try await Desk("Find out why a printer is not found", hosts: 3)
        try await desk.lab.firewall("h2", "udp dport 5353 drop", "udp sport 5353 drop")
        let server = try await serve(desk.lab, "h3", "631")
        let laser = try await desk.lab.avahiPublish("h3", "Laser", "_ipp._tcp", "631")
        try await desk.play(0..<3)
        try await desk.lab.run("h2", "nft", "flush", "ruleset")
        try await desk.play(3..<4)
        withExtendedLifetime((server, laser)) {}
        try await desk.end()
    }

    @Test("two machines trust each other")
    func trust() async throws {
        let desk = try await Desk("Let two machines trust each other")
        try await desk.play(0..<4)
        try await desk.end()
    }
}
