import CommandText
import Testing

/// Output of the commands on a terminal of 80 columns.
@Suite("output on a terminal", .labSlot)
struct TerminalOutputTests {
    static let lab = Task { try await Lab.start() }

    @Test(
        "browse -r: a header, one line a service, columns that begin where their titles do; in a pipe nothing is left out"
    )
    func table() async throws {
        let lab = try await Self.lab.value
        let names = [
            "Tony's long-named 東京 printer in the attic", "🎉 party", "e" + String(repeating: "\u{301}", count: 30),
            "tony",
        ]
        var publishers: [LabProcess] = []
        for name in names {
            let note = "note=" + String(repeating: "long ", count: 40)
            publishers.append(try await lab.publish("h1", name, "9000", "--type", "_columns._tcp", "--txt", note))
        }
        let screen = try await TerminalScreen(lab, "h2")
        try await screen.run("clear; \(Built.discoverd) browse _columns._tcp -r -t")
        let lines = try await screen.shows("all services") {
            $0.count { $0.hasPrefix("+ ") } == names.count && $0.last == "$"
        }
        let rows = lines.dropLast()
        #expect(rows.first?.contains("NAME") == true && rows.count == names.count + 1, "\(lines)")
        let port = rows.first.flatMap { row in row.firstRange(of: "PORT").map { DisplayWidth.of(row[..<$0.lowerBound]) }
        }
        for row in rows.dropFirst() {
            #expect(DisplayWidth.of(row) < 80, "\(row)")
            #expect(row.firstRange(of: " 9000 ").map { DisplayWidth.of(row[..<$0.lowerBound]) + 1 } == port, "\(row)")
        }
        let piped = try await lab.ask("h2", "browse", "_columns._tcp", "-r", "-t")
        for name in names {
            #expect(piped.output.contains { $0.hasPrefix("+\t\(name)\t_columns._tcp\tlocal\teth0\th1.local\t9000\t") })
        }
        try await screen.close()
        for publisher in publishers { try await publisher.stop() }
    }

    @Test(
        "status, its list and doctor are fitted to the terminal; doctor says first what is wrong",
        arguments: [40, 80, 200])
    func fitted(_ columns: Int) async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        let publisher = try await lab.publish(
            "h1", "A name that is longer than a column", "9000", "--type", "_fit._tcp")
        for (command, first) in [
            ("status", "daemon"), ("status --services", "STATE"),
            ("doctor 'A name that is longer than a column' _fit._tcp", "wrong"),
            ("doctor", "ok"),
        ] {
            let line = "env COLUMNS=\(columns) TERM=dumb \(Built.discoverd) \(command)"
            let shown = try await lab.toEnd("h1", ["script", "-qec", line, "/dev/null"], within: .seconds(30))
            let lines = shown.output.map { $0.filter { $0 != "\r" && $0 != "\r\n" } }
            #expect(lines.first?.hasPrefix(first) == true && lines.count > 1, "\(command): \(shown)")
            #expect(lines.allSatisfy { DisplayWidth.of($0) < columns }, "\(command): \(lines)")
        }
        try await publisher.stop()
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("a waiting person gets a notice, a script does not")
    func waiting() async throws {
        let lab = try await Self.lab.value
        let screen = try await TerminalScreen(lab, "h2")
        try await screen.run("clear; \(Built.discoverd) browse all")
        try await screen.shows("no service of type _all._tcp so far")
        try await screen.shows("--all looks for every type") { $0.joined().contains("--all looks for every type") }
        try await screen.press("C-c")
        try await screen.shows("a prompt") { $0.last == "^C$" || $0.last == "$" }
        try await screen.close()
        let script = try lab.discoverd("h2", "browse", "all", "--json")
        try await script.json("settled") { $0.event == "settled" }
        #expect(script.lines(.stderr).isEmpty)
        try await script.stop()
    }

    @Test("LC_ALL=C: ASCII only, in JSON too")
    func ascii() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish("h1", "Müller", "9000", "--type", "_ascii._tcp")
        let screen = try await TerminalScreen(lab, "h2")
        try await screen.run("clear; LC_ALL=C \(Built.discoverd) browse _ascii._tcp -t")
        try await screen.shows(#"M\u{FC}ller"#)
        try await screen.run("clear; LC_ALL=C \(Built.discoverd) browse _ascii._tcp -t --json")
        try await screen.shows(#"M\u00fcller"#)
        try await screen.close()
        try await publisher.stop()
    }
}
