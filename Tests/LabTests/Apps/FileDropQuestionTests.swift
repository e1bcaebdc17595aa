import Foundation
import Testing

/// What the persons at the two terminals are asked.
@Suite("filedrop asks about strangers", .labSlot)
struct FileDropQuestionTests {
    private static let code = "The code must be the same there: "

    /// The code in a question; lines of the terminal are joined, for long ones are broken.
    private func code(in lines: [String]) -> String? {
        let text = lines.joined()
        guard let start = text.range(of: Self.code)?.upperBound else { return nil }
        let digits = text[start...].prefix(7)
        return digits.count == 7 ? String(digits) : nil
    }

    /// What was shown before is not what is shown next.
    private func clear(_ screen: TerminalScreen) async throws {
        try await screen.run("clear")
        try await screen.shows("an empty screen") { $0 == ["$"] }
    }

    private func asked(_ screen: TerminalScreen, _ question: String) async throws -> String {
        let lines = try await screen.shows(question) { $0.joined().contains(question) && code(in: $0) != nil }
        return try #require(code(in: lines))
    }

    @Test("both show one code; no, yes and always do what they say, and always is remembered", .onlyInAll)
    func answers() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        for name in ["a", "b", "c", "d"] { try folder.makeFile(name, size: 1000) }
        let (one, two) = (try await TerminalScreen(lab, "h1"), try await TerminalScreen(lab, "h2"))
        let program = "XDG_STATE_HOME=\(folder.path)/state \(Built.program("filedrop"))"
        func receive() async throws {
            try await clear(one)
            try await one.run("\(program) receive \(folder.path)/in --name anna")
            try await one.shows("published") { $0.contains { $0.hasPrefix("published anna") } }
        }
        func send(_ file: String) async throws {
            try await clear(two)
            try await two.run("\(program) send \(folder.path)/\(file) --to anna; echo status $?")
        }
        try await receive()
        // The sender's person is asked first: no byte of what it has goes out before.
        try await send("a")
        let code = try await asked(two, "Send that (yes/no)?")
        // On that line is nothing of the other side, whose name could make it look like another one.
        try await one.shows("the code") { $0.contains("filedrop: the code is \(code), here and there") }
        try await two.run("no")
        try await two.shows("status 77")
        #expect(folder.names("in").isEmpty)

        try await send("a")
        let second = try await asked(two, "Send that (yes/no)?")
        #expect(second != code)
        try await two.run("yes")
        #expect(try await asked(one, "Take that (yes/always/no)?") == second)
        try await one.shows("what comes") { $0.joined().contains("It has 1 file, 1.0 kB for this machine") }
        // A slip is no answer.
        try await one.run("alway")
        try await one.shows("the question again") { $0.last == "Please type yes, always or no:" }
        try await one.run("no")
        try await two.shows("the reason") { $0.joined().contains("the other side: the person there said no") }
        try await two.shows("status 77")
        #expect(folder.names("in").isEmpty)
        // Who was declined is not asked about again before the receiver is started again.
        try await send("a")
        try await two.shows("the reason") { $0.joined().contains("this machine's key is not known there") }
        try await two.shows("status 77")
        try await one.press("C-c")
        try await one.shows("a prompt") { $0.last?.hasSuffix("$") == true }

        try await receive()
        for (file, answer) in [("b", "yes"), ("c", "always")] {
            try await send(file)
            _ = try await asked(one, "Take that (yes/always/no)?")
            try await one.run(answer)
            try await two.shows("status 0")
            #expect(folder.isSame(file, "in/\(file)"))
            // The next question is another one.
            try await one.press("C-c")
            try await receive()
        }
        func noted() async throws -> [String] {
            try await lab.ask("h1", "known", "--file", "filedrop_senders").output.map {
                String($0.prefix { $0 != "\t" })
            }
        }
        #expect(try await noted() == ["@h2"])
        // The receiver, which is running, finds hashed names, too.
        #expect(try await lab.ask("h1", "known", "hash").exit == .exited(0))
        #expect(try await noted().map { $0.prefix(4) } == ["@|1|"])
        try await send("d")
        try await two.shows("status 0")
        #expect(folder.isSame("d", "in/d"))
        #expect(try await lab.ask("h1", "known").output.isEmpty)
        #expect(try await lab.ask("h1", "known", "forget", "@h2", "--file", "filedrop_senders").exit == .exited(0))
        #expect(try await noted().isEmpty)
        try await one.press("C-c")
        try await one.close()
        try await two.close()
        try await lab.stop()
    }

    @Test("whose sender is ended is no question any more; a name with spaces begins no line of its own", .onlyInAll)
    func leaver() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("a", size: 1000)
        let (one, two) = (try await TerminalScreen(lab, "h1"), try await TerminalScreen(lab, "h2"))
        let program = "XDG_STATE_HOME=\(folder.path)/state \(Built.program("filedrop"))"
        let name = "h1\(String(repeating: " ", count: 16))filedrop: the code is 111 111, here and there"
        try await one.run("clear; \(program) receive \(folder.path)/in --name '\(name)'")
        try await one.shows("published") { $0.contains { $0.hasPrefix("published h1") } }
        for end in ["C-c", "kill"] {
            let started = "(echo $BASHPID >\(folder.path)/pid; export XDG_STATE_HOME=\(folder.path)/state; exec"
            try await two.run("clear; \(started) \(Built.program("filedrop")) send \(folder.path)/a); echo status $?")
            try await two.shows("the name as one word") {
                $0.joined().contains("\\032\\032filedrop:\\032the\\032code\\032is\\032111\\032111")
                    && !$0.contains { $0.contains("the code is 111 111") }
            }
            // Then it is known.
            if end == "C-c" {
                _ = try await asked(two, "Send that (yes/no)?")
                try await two.run("yes")
            }
            _ = try await asked(one, "Take that (yes/always/no)?")
            if end == "kill" {
                _ = try await lab.bash("h2", "kill -KILL $(cat \(folder.path)/pid)")
            } else {
                try await two.press("C-c")
            }
            try await two.shows("status") { $0.contains { $0.hasPrefix("status ") } }
            try await one.shows("the end") {
                $0.joined().contains("the connection ended before everything was through")
            }
            // What is typed now answers nothing.
            try await one.run("clear; always")
            #expect(try await lab.bash("h1", "cat /var/lib/discoverd-root/filedrop_senders").output.isEmpty)
            if end == "C-c" {
                // Nor does it answer the next question.
                try await two.run(
                    "clear; \(started) \(Built.program("filedrop")) send \(folder.path)/a); echo status $?")
                try await one.shows("that there is another") { $0.last?.hasSuffix("Press Enter to see it:") == true }
                try await one.run("always")
                _ = try await asked(one, "Take that (yes/always/no)?")
                #expect(try await lab.bash("h1", "cat /var/lib/discoverd-root/filedrop_senders").output.isEmpty)
                try await two.press("C-c")
                try await two.shows("status") { $0.contains { $0.hasPrefix("status ") } }
            }
            try await one.press("C-c")
            try await one.run("clear; \(program) receive \(folder.path)/in --name '\(name)'")
            try await one.shows("published") { $0.contains { $0.hasPrefix("published h1") } }
        }
        try await one.press("C-c")
        try await one.close()
        try await two.close()
        try await lab.stop()
    }
}
