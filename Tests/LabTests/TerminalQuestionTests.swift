import Foundation
import Testing

/// The question of `connect --tls` about a key that is not known, at a real terminal.
@Suite("a question at the terminal", .labSlot)
struct TerminalQuestionTests {
    private static let tony = "tony._witap._tcp.local"

    private struct Stage {
        let lab: Lab
        let server: LabProcess
        let screen: TerminalScreen

        /// A listener that lets anyone in, and a terminal on another host.
        init() async throws {
            lab = try await Lab.start()
            server = try lab.discoverd("h1", "listen", "tony", "--tls", "--trust-first", "--", "cat")
            try await server.line(.stdout, "published") { $0.hasPrefix("published ") }
            screen = try await TerminalScreen(lab, "h2")
        }

        func connect(_ more: String = "") async throws {
            try await screen.run(
                "clear; echo hello | \(Built.discoverd) connect tony --tls \(more); echo \"status=$?\"")
        }

        func asks() async throws { try await screen.shows("a question") { $0.last?.hasSuffix("(yes/no)?") == true } }

        func known() async throws -> [String] { try await lab.ask("h2", "known").output }

        func end() async throws {
            try await screen.close()
            try await server.stop()
            try await lab.stop()
        }
    }

    @Test("yes lets it in, and is not asked for again; standard input stays the connection's")
    func yes() async throws {
        let stage = try await Stage()
        try await stage.connect()
        try await stage.asks()
        try await stage.screen.run("yes")
        try await stage.screen.shows("status=0")
        try await stage.screen.shows("the echo") { $0.contains("hello") }
        #expect(try await stage.known().first?.hasPrefix(TerminalQuestionTests.tony) == true)
        try await stage.connect()
        try await stage.screen.shows("status=0")
        try await stage.end()
    }

    @Test(
        "no and an end of input let nobody in: 77; anything else is asked again", .onlyInAll,
        arguments: ["no", "y", "C-d"])
    func no(_ answer: String) async throws {
        let stage = try await Stage()
        try await stage.connect()
        try await stage.asks()
        if answer == "y" {
            try await stage.screen.run(answer)
            try await stage.screen.shows("Please type yes or no:")
            try await stage.screen.run("no")
        } else if answer == "C-d" {
            try await stage.screen.press(answer)
        } else {
            try await stage.screen.run(answer)
        }
        try await stage.screen.shows("status=77")
        #expect(try await stage.known().isEmpty)
        try await stage.end()
    }

    @Test("Ctrl-C ends the command and leaves the terminal as it was")
    func interrupted() async throws {
        let stage = try await Stage()
        let before = try await stage.screen.settings()
        try await stage.connect()
        try await stage.asks()
        try await stage.screen.press("C-c")
        try await stage.screen.shows("a prompt") { $0.last == "$" }
        #expect(try await stage.screen.settings() == before)
        #expect(try await stage.known().isEmpty)
        try await stage.end()
    }

    @Test("a job in the background asks nobody and does not stop: 77", .onlyInAll)
    func background() async throws {
        let stage = try await Stage()
        try await stage.screen.run(
            "clear; { echo hello | \(Built.discoverd) connect tony --tls; } & wait $!; echo \"status=$?\"")
        try await stage.screen.shows("status=77")
        #expect(try await !stage.screen.lines().contains { $0.contains("yes/no") })
        #expect(try await stage.known().isEmpty)
        try await stage.end()
    }

    @Test("a terminal that goes away answers nothing, and the command ends with it", .onlyInAll)
    func gone() async throws {
        let stage = try await Stage()
        try await stage.connect()
        try await stage.asks()
        try await stage.screen.close()
        // The end of the terminal's input may come before SIGHUP: then it says no before it ends.
        try await stage.server.line(.stderr, "its end") { line in
            ["it ended the connection", "does not let this machine in"].contains { line.contains($0) }
        }
        #expect(try await stage.known().isEmpty)
        try await stage.server.stop()
        try await stage.lab.stop()
    }
}
