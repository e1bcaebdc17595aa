import Testing

/// What the version before called otherwise: the same output and status as with today's words, and a hint for a person
/// (docs/decisions/0080-sixteen-commands.md).
@Suite("old and new words", .labSlot)
struct OldWordsTests {
    private static let zone = ["bind", "--domain", "home.example.org", "--server-address", "10.0.0.53"]

    /// Old words, and new ones.
    private static let pairs: [([String], [String])] = [
        (["ls"], ["status", "--services"]), (["ls", "--json"], ["--json", "status", "--services"]),
        (["types"], ["browse", "--types", "-t"]), (["types", "--json"], ["browse", "--types", "-t", "--json"]),
        (["domains", "--domain", "local"], ["browse", "--domains", "-t", "--domain", "local"]),
        (["host", "h1", "10.77.0.1", "-4"], ["-4", "resolve", "--host", "h1", "10.77.0.1"]),
        (["host", "h1.local", "h2.local", "-4", "--json"], ["resolve", "h1.local", "h2.local", "-4", "--json"]),
        (["host", "nosuch.local", "-t", "1"], ["resolve", "nosuch.local", "--timeout", "1"]),
        (["query", "h1", "HINFO", "-t", "1"], ["query", "h1", "HINFO", "--timeout", "1", "-t"]),
        (["identity"], ["key", "show"]),
        (["known", "add", "@a", "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"], ["key", "list", "--json"]),
        (["known"], ["key", "list"]), (["known", "forget", "@b"], ["key", "forget", "@b"]),
        (["zone-template"] + zone, ["setup", "zone"] + zone),
        (["import", "/nosuch"], ["setup", "avahi", "/nosuch"]),
        (["explain", "10.77.0.1"], ["doctor", "10.77.0.1"]),
        (["explain", "nosuch.local", "-t", "1", "--json"], ["doctor", "nosuch.local", "--timeout", "1", "--json"]),
    ]

    @Test("the same on standard output, and the same status; a hint at a terminal and with -v alone")
    func same() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h2", of: lab)
        let publisher = try await lab.publish("h2", "tony", "9000")
        for (old, new) in Self.pairs {
            let before = try await lab.toEnd("h2", [Built.discoverd] + old, within: .seconds(20))
            let now = try await lab.toEnd("h2", [Built.discoverd] + new, within: .seconds(20))
            guard !old.starts(with: ["known", "add"]) else {
                #expect(before.exit == .exited(0) && now.output.first?.contains(#""name":"@a""#) == true, "\(now)")
                continue
            }
            #expect(before.exit == now.exit, "\(old): \(before) \(now)")
            #expect(before.output == now.output && before.errors == now.errors, "\(old): \(before) \(now)")
        }
        let told = try await lab.ask("h2", "ls", "-v")
        #expect(
            told.errors == [
                "discoverd: 'discoverd ls' is now 'discoverd status --services'; the old words go with the next version"
            ], "\(told)")
        for words in [["9001", "tony"], ["tony", "9002"]] {
            let forward = try lab.exec("h2", [Built.discoverd, "forward"] + words)
            try await forward.line(.stdout, "the port") { $0.hasPrefix("forwarding 127.0.0.1:900") }
            try await forward.stop()
        }
        let numbers = try await lab.ask("h2", "forward", "7779", "80", "-v", "--timeout", "1")
        #expect(
            numbers.errors.contains {
                $0 == "discoverd: NAME stands before PORT: this looks for a service named \"7779\""
            }, "\(numbers)")
        let screen = try await TerminalScreen(lab, "h2")
        try await screen.run("clear; \(Built.discoverd) types")
        try await screen.shows("the new words") { $0.joined().contains("is now 'discoverd browse --types -t'") }
        try await screen.close()
        try await publisher.stop()
        try await daemon.stop()
        try await lab.stop()
    }
}
