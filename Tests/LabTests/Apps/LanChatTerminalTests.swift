import Foundation
import Testing

@Suite("lanchat in a terminal", .serialized, .labSlot, .timeLimit(.minutes(20)))
struct LanChatTerminalTests {
    /// A shell in tmux on h2, 80 columns by 24 lines.
    private struct Screen {
        let lab: Lab
        let socket: String

        func tmux(_ arguments: String...) async throws -> [String] {
            let run = try await lab.toEnd("h2", ["/usr/bin/tmux", "-S", socket] + arguments, within: .seconds(20))
            return run.output
        }

        func type(_ keys: String...) async throws {
            for key in keys { _ = try await tmux("send-keys", "-t", "0", key) }
        }

        /// Waits until the screen, with what scrolled out of it, is as wanted.
        func shows(_ what: String, _ matches: ([String]) -> Bool) async throws {
            let deadline = ContinuousClock.now + .seconds(30)
            var lines: [String] = []
            while ContinuousClock.now < deadline {
                lines = try await tmux("capture-pane", "-p", "-t", "0", "-S", "-200")
                while lines.last == "" { lines.removeLast() }
                if matches(lines) { return }
                try await Task.sleep(for: .milliseconds(50))
            }
            Issue.record("not shown: \(what): \(lines.joined(separator: "\n"))")
        }
    }

    private func screen(_ lab: Lab, _ folder: TestFolder, _ environment: String = "") async throws -> Screen {
        let screen = Screen(lab: lab, socket: "\(folder.path)/tmux")
        _ = try await screen.tmux(
            "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24",
            "env LANG=C.UTF-8 PS1='$ ' SWIFT_BACKTRACE=enable=no \(environment) /bin/bash --norc --noprofile")
        try await screen.shows("a prompt") { $0.last == "$" }
        return screen
    }

    @Test("what is said appears above the line that is typed; Ctrl-C gives the terminal back")
    func typing() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        let server = try lab.app("h1", "lanchat", "serve", "--name", "den")
        try await server.line { $0.hasPrefix("published") }
        let screen = try await screen(lab, folder)
        try await screen.type("\(AppBinary.path("lanchat")) join --nick anna", "Enter")
        try await screen.shows("joined") { $0.suffix(2) == ["anna has joined", ">"] }

        let bob = try lab.exec("h1", "nc", "-N", "127.0.0.1", "6222")
        bob.write("iam:bob\n")
        try await bob.line { $0 == "bob has joined" }
        try await screen.type("half a")
        try await screen.shows("what is typed") { $0.last == "> half a" }
        bob.write("msg:I interrupt\n")
        try await screen.shows("the line below") { $0.suffix(2) == ["bob: I interrupt", "> half a"] }
        try await screen.type("BSpace", "n hour", "Enter")
        try await bob.line { $0 == "anna: half n hour" }
        // More than a screen: the terminal's own scrollback has it all.
        for number in 0..<60 { bob.write("msg:line \(number)\n") }
        try await screen.shows("scrollback") { $0.contains("bob: line 0") && $0.contains("bob: line 59") }

        try await screen.type("C-c")
        try await bob.line { $0 == "anna has left" }
        try await screen.type("stty -a | grep -cE ' icanon.* echo ' ", "Enter")
        try await screen.shows("a terminal as it was") { $0.suffix(2) == ["1", "$"] }
        _ = try await screen.tmux("kill-server")
        try await server.stop()
        try await lab.stop()
    }

    @Test("a crash gives the terminal back, too; NO_COLOR and 80 columns are kept to")
    func crash() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        let server = try lab.app("h1", "lanchat", "serve", "--name", "den")
        try await server.line { $0.hasPrefix("published") }
        let screen = try await screen(lab, folder, "NO_COLOR=1")
        try await screen.type("\(AppBinary.path("lanchat")) join --nick anna", "Enter")
        try await screen.shows("joined") { $0.suffix(2) == ["anna has joined", ">"] }
        #expect(try await !screen.tmux("capture-pane", "-p", "-e", "-t", "0").joined().contains("\u{1B}[2m"))
        // The end of a line that is longer than the screen is what one sees.
        try await screen.type(String(repeating: "x", count: 100) + "end")
        try await screen.shows("the end") { ($0.last?.hasSuffix("xend") ?? false) && ($0.last?.count ?? 0) < 80 }
        let pid = try await screen.tmux("display-message", "-p", "-t", "0", "#{pane_pid}").first ?? ""
        _ = try await lab.bash("h2", "pkill -SEGV -P \(pid) lanchat")
        try await screen.shows("the shell") {
            $0.contains { $0.contains("Segmentation") || $0.contains("Illegal") || $0 == "$" }
        }
        try await screen.type("Enter", "stty -a | grep -cE ' icanon.* echo ' ", "Enter")
        try await screen.shows("a terminal as it was") { $0.suffix(2) == ["1", "$"] }
        _ = try await screen.tmux("kill-server")
        try await server.stop()
        try await lab.stop()
    }
}
