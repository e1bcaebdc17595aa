import Foundation
import Testing

@Suite("lanchat in a terminal", .serialized, .labSlot, .timeLimit(.minutes(20)))
struct LanChatTerminalTests {
    /// A room on h1, and a terminal on h2 in which anna has joined it.
    private func annaHasJoined(_ lab: Lab, _ environment: String = "") async throws -> (LabProcess, TerminalScreen) {
        let server = try lab.app("h1", "lanchat", "serve", "--name", "den")
        try await server.line { $0.hasPrefix("published") }
        let screen = try await TerminalScreen(lab, "h2", environment)
        try await screen.press("\(AppBinary.path("lanchat")) join --nick anna", "Enter")
        try await screen.shows("joined") { $0.suffix(2) == ["anna has joined", ">"] }
        return (server, screen)
    }

    @Test("what is said appears above the line that is typed; Ctrl-C gives the terminal back")
    func typing() async throws {
        let lab = try await Lab.start()
        let (server, screen) = try await annaHasJoined(lab)

        let bob = try lab.exec("h1", "nc", "-N", "127.0.0.1", "6222")
        bob.write("iam:bob\n")
        try await bob.line { $0 == "bob has joined" }
        try await screen.press("half a")
        try await screen.shows("what is typed") { $0.last == "> half a" }
        bob.write("msg:I interrupt\n")
        try await screen.shows("the line below") { $0.suffix(2) == ["bob: I interrupt", "> half a"] }
        try await screen.press("BSpace", "n hour", "Enter")
        try await bob.line { $0 == "anna: half n hour" }
        // More than a screen: the terminal's own scrollback has it all.
        for number in 0..<60 { bob.write("msg:line \(number)\n") }
        try await screen.shows("scrollback", withHistory: true) {
            $0.contains("bob: line 0") && $0.contains("bob: line 59")
        }

        try await screen.press("C-c")
        try await bob.line { $0 == "anna has left" }
        try await screen.press("stty -a | grep -cE ' icanon.* echo ' ", "Enter")
        try await screen.shows("a terminal as it was") { $0.suffix(2) == ["1", "$"] }
        try await screen.close()
        try await server.stop()
        try await lab.stop()
    }

    @Test("Ctrl-Z gives the terminal to the shell; fg brings back what was typed, and raw mode")
    func stoppedAndContinued() async throws {
        let lab = try await Lab.start()
        let (server, screen) = try await annaHasJoined(lab)
        for round in 1...2 {
            try await screen.press("half a")
            try await screen.shows("what is typed") { $0.last == "> half a" }
            try await screen.press("C-z")
            try await screen.shows("the shell") { $0.contains { $0.contains("Stopped") } && $0.last == "$" }
            try await screen.press("clear; stty -a | grep -cE ' icanon.* echo ' ", "Enter")
            try await screen.shows("a terminal as it was") { $0.suffix(2) == ["1", "$"] }
            try await screen.press("fg", "Enter")
            try await screen.shows("the line again") { $0.last == "> half a" }
            // Raw mode: a key is drawn by the program, and deletes.
            try await screen.press("BSpace", "\(round)")
            try await screen.shows("the line as it is edited") { $0.last == "> half \(round)" }
            try await screen.press("Enter")
            try await screen.shows("the message") { $0.suffix(2) == ["anna: half \(round)", ">"] }
        }
        try await screen.press("C-c")
        try await screen.shows("the shell") { $0.last == "$" }
        try await screen.close()
        try await server.stop()
        try await lab.stop()
    }

    @Test("a crash gives the terminal back, too; NO_COLOR and 80 columns are kept to")
    func crash() async throws {
        let lab = try await Lab.start()
        let (server, screen) = try await annaHasJoined(lab, "NO_COLOR=1")
        #expect(try await !screen.lines(withStyles: true).joined().contains("\u{1B}[2m"))
        // The end of a line that is longer than the screen is what one sees.
        try await screen.press(String(repeating: "x", count: 100) + "end")
        try await screen.shows("the end") { ($0.last?.hasSuffix("xend") ?? false) && ($0.last?.count ?? 0) < 80 }
        _ = try await lab.bash("h2", "pkill -SEGV -P \(try await screen.pid()) lanchat")
        try await screen.shows("the shell") {
            $0.contains { $0.contains("Segmentation") || $0.contains("Illegal") || $0 == "$" }
        }
        try await screen.press("Enter", "stty -a | grep -cE ' icanon.* echo ' ", "Enter")
        try await screen.shows("a terminal as it was") { $0.suffix(2) == ["1", "$"] }
        try await screen.close()
        try await server.stop()
        try await lab.stop()
    }
}
