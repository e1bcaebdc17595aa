import CommandText
import DNSSD
import Foundation
import Testing

/// `browse --live` in a real terminal.
@Suite("a live table at the terminal", .labSlot)
struct LiveBrowseTests {
    static let lab = Task { try await Lab.start() }

    private func start(_ screen: TerminalScreen, _ arguments: String, environment: String = "") async throws {
        try await screen.run(
            "clear; \(environment) \(Built.discoverd) browse --live \(arguments); echo \"status=$?\"")
        try await screen.shows("the keys") { $0.last?.hasPrefix("/ filter") == true }
    }

    private func row(_ name: String, in lines: [String]) -> String? {
        lines.dropFirst(2).dropLast().first { $0.dropFirst(2).hasPrefix(name) }
    }

    @Test("services come in their order, and go greyed; a filter as it is typed; details; another size; q")
    func story() async throws {
        let lab = try await Self.lab.value
        let zeta = try await lab.publish("h1", "zeta", "9000", "--type", "_story._tcp", "--txt", "path=/z")
        let screen = try await TerminalScreen(lab, "h2")
        let before = try await screen.settings()
        try await start(screen, "_story._tcp")
        try await screen.shows("the first") { self.row("zeta", in: $0) != nil }
        try await screen.shows("that it is complete") { $0[0] == "_story._tcp: 1 service" }
        let alpha = try await lab.publish("h1", "alpha 東京 🎉", "9001", "--type", "_story._tcp")
        let two = try await screen.shows("the second, above it") { $0.contains { $0.hasPrefix("+ alpha") } }
        #expect(two[0] == "_story._tcp: 2 services" && two[1].hasPrefix("  NAME"), "\(two)")
        #expect(two[2].hasPrefix("+ alpha 東京 🎉") && two[3].hasPrefix("  zeta"), "\(two)")
        try await screen.press("/", "Z", "E")
        try await screen.shows("only what matches") { $0.last == "/ZE" && $0.count { $0.contains("eth0") } == 1 }
        try await screen.press("Enter", "Enter")
        // It is resolved for this alone.
        try await screen.shows("its details") {
            $0[1] == "name      zeta" && $0.contains("txt       \"path=/z\"") && $0.contains("host      h1.local")
        }
        try await screen.press("Escape")
        try await screen.shows("the list again") { $0.last?.hasPrefix("/ filter: ZE") == true }
        try await screen.press("Escape")
        try await screen.shows("all") { self.row("alpha", in: $0) != nil }
        try await alpha.stop()
        try await screen.shows("one gone") { $0.contains { $0.hasPrefix("- alpha") } }
        let styled = try await screen.lines(withStyles: true)
        #expect(
            styled.contains { $0.contains("\u{1B}[2m") && $0.contains("alpha") || $0.contains("\u{1B}[2;7m") },
            "\(styled)")
        try await screen.resize(columns: 40, rows: 8)
        let small = try await screen.shows("a smaller screen") {
            $0.count == 8 && $0.last?.hasPrefix("/ filter") == true
        }
        #expect(small.allSatisfy { DisplayWidth.of($0) <= 40 } && row("zeta", in: small) != nil, "\(small)")
        try await screen.press("q")
        try await screen.shows("status=0")
        #expect(try await screen.settings() == before)
        try await screen.close()
        try await zeta.stop()
    }

    @Test("-r, several types, --where and --sort")
    func options() async throws {
        let lab = try await Self.lab.value
        let one = try await lab.publish("h1", "one", "9000", "--type", "_live1._tcp", "--txt", "path=/x")
        let two = try await lab.publish("h1", "two", "9001", "--type", "_live2._tcp", "--txt", "path=/x")
        let other = try await lab.publish("h1", "other", "9002", "--type", "_live2._tcp")
        let screen = try await TerminalScreen(lab, "h2")
        try await start(screen, "_live2._tcp _live1._tcp -r --where txt.path --sort type")
        let lines = try await screen.shows("both") { self.row("one", in: $0) != nil && self.row("two", in: $0) != nil }
        #expect(lines[1].contains("TYPE") && lines[1].contains("PORT"))
        #expect(lines[2].contains("one") && lines[2].contains("9000") && lines[3].contains("two"), "\(lines)")
        #expect(row("other", in: lines) == nil)
        try await screen.press("s", "s")
        try await screen.shows("order: name")
        try await screen.press("q")
        try await screen.shows("status=0")
        try await screen.close()
        for publisher in [one, two, other] { try await publisher.stop() }
    }

    @Test("Ctrl-C, SIGTERM, SIGHUP, time and Ctrl-Z leave the terminal as it was")
    func ends() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish("h1", "tony", "9000", "--type", "_ends._tcp")
        let screen = try await TerminalScreen(lab, "h2")
        let before = try await screen.settings()
        let folder = try TestFolder()
        let run = "sh -c 'echo $$ >\(folder.path)/pid; exec \(Built.discoverd) browse _ends._tcp --live'"
        for end in ["C-c", "TERM", "HUP"] {
            try await screen.run("clear; \(run); echo \"status=$?\"")
            try await screen.shows("the service") { self.row("tony", in: $0) != nil }
            if end == "C-c" {
                try await screen.press(end)
            } else {
                let pid = try String(contentsOfFile: "\(folder.path)/pid", encoding: .utf8)
                #expect(try await lab.bash("h2", "kill -\(end) \(pid)").exit == .exited(0))
            }
            try await screen.shows("status=0")
            #expect(try await screen.settings() == before, "\(end)")
        }
        try await screen.run("clear; \(Built.discoverd) browse _ends._tcp --live; echo \"status=$?\"")
        try await screen.shows("the service") { self.row("tony", in: $0) != nil }
        try await screen.press("C-z")
        try await screen.shows("Stopped")
        #expect(try await screen.settings() == before)
        // In the background it waits, as top does.
        try await screen.run("clear; bg; until jobs %1 | grep -q Stopped; do :; done; echo waits")
        try await screen.shows("waits")
        #expect(try await screen.settings() == before)
        try await screen.run("fg; echo \"then=$?\"")
        try await screen.shows("the table again") { self.row("tony", in: $0) != nil }
        try await screen.press("q")
        try await screen.shows("then=0")
        #expect(try await screen.settings() == before)
        try await screen.run("clear; \(Built.discoverd) browse _none._tcp --live --timeout 1; echo \"status=$?\"")
        try await screen.shows("status=1")
        try await screen.shows("no service of type _none._tcp was found")
        #expect(try await screen.settings() == before)
        try await screen.close()
        try await publisher.stop()
    }

    @Test(
        "what is drawn without a pause leaves nothing on the shell's screen when Ctrl-Z stops it, and is there again after fg"
    )
    func stops() async throws {
        let lab = try await Self.lab.value
        let sources = URL(filePath: Lab.scripts).appending(path: "../../../Sources/Core/CLinux").path(
            percentEncoded: false)
        // `browse --live` draws 25 times a second at most: it would rarely draw just then.
        let made = try await lab.bash(
            "h2",
            "gcc -pthread -D_Nonnull= -I \(sources)/include -o /run/draws \(Lab.scripts)/draws.c \(sources)/terminal.c")
        #expect(made.exit == .exited(0), "\(made)")
        let screen = try await TerminalScreen(lab, "h2")
        let before = try await screen.settings()
        for round in 1...10 {
            try await screen.run("clear; /run/draws; echo \"round=\(round)\"")
            try await screen.shows("the picture") { $0.count { $0 == "DRAWN" } == 6 }
            try await screen.press("C-z")
            let stopped = try await screen.shows("the shell's screen") {
                $0.contains("round=\(round)") && $0.last == "$"
            }
            #expect(!stopped.contains { $0.contains("DRAWN") }, "\(stopped)")
            try await screen.run("clear; fg; echo \"then=$?\"")
            try await screen.shows("the picture again") { $0.count { $0 == "DRAWN" } == 6 }
            try await screen.press("q")
            try await screen.shows("then=0")
        }
        #expect(try await screen.settings() == before)
        try await screen.close()
    }

    @Test(
        "without a terminal, with one that cannot be drawn on, in the background, for programs: 64, and nothing is printed"
    )
    func refused() async throws {
        let lab = try await Self.lab.value
        for more in [[], ["--json"], ["-t"], ["--count", "1"]] {
            let run = try await lab.toEnd(
                "h2", [Built.discoverd, "browse", "_x._tcp", "--live"] + more, within: .seconds(10))
            #expect(run.exit == .exited(64) && run.output.isEmpty && run.failure != nil, "\(more) \(run)")
        }
        let screen = try await TerminalScreen(lab, "h2")
        let live = "\(Built.discoverd) browse _x._tcp --live"
        for command in ["TERM=dumb \(live)", "\(live) </dev/null", "{ \(live) & wait $!; }"] {
            try await screen.run("clear; \(command); echo \"status=$?\"")
            try await screen.shows("status=64")
        }
        try await screen.close()
    }

    @Test(
        "hostile names are shown, not obeyed, and stay in their column; ASCII alone with LC_ALL=C",
        arguments: [true, false])
    func hostile(isUTF8: Bool) async throws {
        let lab = try await Self.lab.value
        let type = isUTF8 ? "_livebad._tcp" : "_liveasc._tcp"
        let names = [
            "a\u{1B}[31mred", "b\u{1B}[2J", "c\nd", "e\u{202E}f", "g" + String(repeating: "\u{301}", count: 20), "h東京",
            "i\u{9B}5A", "j" + String(repeating: "\u{1B}", count: 40),
        ]
        let services = names.map {
            Injected(instance: Injected.Bytes($0), type: type, host: "evil", txt: [Injected.Bytes("raw=" + $0)])
        }
        let json = String(decoding: try JSONEncoder().encode(["services": services]), as: UTF8.self)
        let injector = try await lab.inject("h1", json)
        let screen = try await TerminalScreen(lab, "h2")
        try await start(screen, "\(type) -r", environment: isUTF8 ? "" : "LC_ALL=C")
        let lines = try await screen.shows("all") { $0.count { $0.contains(" eth0 ") } == names.count }
        let start = try #require(lines[1].firstRange(of: "IF"))
        let column = DisplayWidth.of(lines[1][..<start.lowerBound])
        for line in lines.dropFirst(2).prefix(names.count) {
            let place = try #require(line.firstRange(of: "eth0"))
            #expect(DisplayWidth.of(line[..<place.lowerBound]) == column, "\(line)")
            #expect(isUTF8 || line.utf8.allSatisfy { $0 < 0x80 }, "\(line)")
        }
        #expect(lines[2].contains(#"a\u{1B}[31mred"#) && lines[4].contains(#"c\u{A}d"#), "\(lines)")
        try await screen.press("Enter")
        try await screen.shows(#"a\u{1B}[31mred"#)
        try await screen.press("q")
        try await screen.shows("status=0")
        try await screen.close()
        injector.signal(SIGTERM)
        try await injector.exit()
    }
}
