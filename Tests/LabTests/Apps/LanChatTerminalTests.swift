import Foundation
import Testing

@Suite("lanchat in a terminal", .labSlot)
struct LanChatTerminalTests {
    /// A room on h1, and a terminal on h2 in which anna has joined it.
    private func annaHasJoined(
        _ lab: Lab, _ environment: String = "", _ option: String = "--trust-first"
    ) async throws -> (LabProcess, TerminalScreen) {
        let server = try lab.app("h1", "lanchat", "serve", "--name", "den", option)
        try await server.line { $0.hasPrefix("published") }
        let screen = try await TerminalScreen(lab, "h2", environment)
        try await screen.press("\(Built.program("lanchat")) join --nick anna \(option)", "Enter")
        try await screen.shows("joined") { $0.suffix(2) == ["* here: anna", ">"] }
        return (server, screen)
    }

    @Test("messages appear above the input line; Ctrl-C restores the terminal")
    func typing() async throws {
        let lab = try await Lab.start()
        let (server, screen) = try await annaHasJoined(lab, "", "--plain")

        let bob = try lab.exec("h1", "nc", "-N", "127.0.0.1", "6222")
        bob.write("iam:bob\n")
        try await bob.line { $0 == "bob has joined" }
        try await screen.press("half a")
        try await screen.shows("what is typed") { $0.last == "> half a" }
        bob.write("msg:I interrupt\n")
        try await screen.shows("the line below") { $0.suffix(2) == ["bob: I interrupt", "> half a"] }
        try await screen.press("BSpace", "n hour", "Enter")
        try await bob.line { $0 == "anna: half n hour" }
        // More than fits the screen: the terminal's own scrollback keeps everything.
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

    @Test("Ctrl-Z returns the terminal to the shell; fg restores the input line and raw mode", .onlyInAll)
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
            // Raw mode: the program itself draws and deletes characters.
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

    @Test(
        "of two rooms one is chosen from a list; a person at the server speaks, too; both terminals are as before",
        .onlyInAll)
    func twoRooms() async throws {
        let lab = try await Lab.start(hosts: 3)
        let other = try lab.app("h3", "lanchat", "serve", "--name", "attic")
        try await other.line { $0.hasPrefix("published") }
        let keeper = try await TerminalScreen(lab, "h1")
        let guest = try await TerminalScreen(lab, "h2")
        let before = try await [keeper.settings(), guest.settings()]
        try await keeper.press("\(Built.program("lanchat")) serve --name den --nick keeper --trust-first", "Enter")
        try await keeper.shows("the room") { $0.contains("keeper has joined") && $0.last == ">" }
        try await guest.press("\(Built.program("lanchat")) join --nick anna --trust-first", "Enter")
        // The room that was found first is selected, and stays so.
        try await guest.shows("the list") { lines in
            ["attic", "den"].allSatisfy { lines.contains("  > \($0)") || lines.contains("    \($0)") }
        }
        try await guest.press("Up", "Down")
        try await guest.shows("the second selected") { $0.contains("  > den") }
        try await guest.press("Enter")
        try await guest.shows("who is there") {
            $0.suffix(2) == ["* here: anna, keeper", ">"] && $0.contains("joining den")
        }
        try await keeper.press("good evening", "Enter")
        try await guest.shows("the keeper") { $0.suffix(2) == ["keeper: good evening", ">"] }
        try await guest.press("/nick bella", "Enter", "/who", "Enter")
        try await guest.shows("who is there") { $0.suffix(2) == ["* here: bella, keeper", ">"] }
        try await keeper.press("C-c")
        try await guest.shows("the end, told once") {
            $0.suffix(3) == ["keeper has left", "* the room was closed", "$"]
                || $0.suffix(2) == ["* the room was closed", "$"]
        }
        try await keeper.shows("a prompt") { $0.last == "$" }
        #expect(try await [keeper.settings(), guest.settings()] == before)
        for screen in [keeper, guest] { try await screen.close() }
        try await other.stop()
        try await lab.stop()
    }

    @Test("a server in the background leaves the terminal alone", .onlyInAll)
    func background() async throws {
        let lab = try await Lab.start()
        let screen = try await TerminalScreen(lab, "h1")
        try await screen.run("set +m; set -m; \(Built.program("lanchat")) serve --name den &")
        try await screen.shows("published den._chat-discoverd._tcp.local port 6222")
        try await screen.run("jobs")
        try await screen.shows("a job that runs") { $0.contains { $0.contains("Running") } }
        try await screen.run("fg")
        try await screen.press("C-c")
        try await screen.shows("a prompt") { $0.last?.hasSuffix("$") == true }
        try await screen.close()
        try await lab.stop()
    }

    @Test("a crash gives the terminal back, too; NO_COLOR and 80 columns are kept to", .onlyInAll)
    func crash() async throws {
        let lab = try await Lab.start()
        let (server, screen) = try await annaHasJoined(lab, "NO_COLOR=1")
        #expect(try await !screen.lines(withStyles: true).joined().contains("\u{1B}[2m"))
        // Of an input line longer than the screen, the end is visible.
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
