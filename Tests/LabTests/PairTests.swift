import Foundation
import Testing

/// `discoverd pair` in the lab: two people at two terminals, programs that pair in other ways, and one in the middle.
@Suite("pairing by a code", .labSlot)
struct PairTests {
    /// A terminal in which `pair` runs; its status follows.
    func pair(_ lab: Lab, _ host: String, _ arguments: String = "") async throws -> TerminalScreen {
        let screen = try await TerminalScreen(lab, host)
        try await screen.run("clear; \(Built.discoverd) pair \(arguments); echo \"status=$?\"")
        return screen
    }

    func waiting(_ lab: Lab, _ host: String) async throws -> TerminalScreen {
        let screen = try await pair(lab, host)
        try await screen.shows("on the other machine: discoverd key pair \(host)")
        return screen
    }

    /// The code of the question that is open.
    func code(_ screen: TerminalScreen) async throws -> String {
        let lines = try await screen.shows("a question") { $0.last?.hasSuffix("(yes/no)?") == true }
        let codes = lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter {
            $0.wholeMatch(of: /\d{3} \d{3}/) != nil
        }
        return try #require(codes.last, "\(lines)")
    }

    /// A text that may be wrapped.
    func shows(_ screen: TerminalScreen, _ text: String) async throws {
        let compact = { (text: String) in text.filter { !$0.isWhitespace } }
        try await screen.shows(text, withHistory: true) { compact($0.joined()).contains(compact(text)) }
    }

    func known(_ lab: Lab, _ host: String) async throws -> [String] {
        try await lab.ask(host, "known").output
    }

    private func nothingIsKnown(_ lab: Lab) async throws -> Bool {
        let lines = [try await known(lab, "h1"), try await known(lab, "h2")]
        return lines.allSatisfy(\.isEmpty)
    }

    /// The port at which a machine waits.
    func port(_ lab: Lab, _ from: String, _ name: String) async throws -> Int {
        let resolved = try await lab.ask(from, "resolve", name, "_discoverd-pair._tcp", "--json")
        return try #require(try resolved.services().first?.port, "\(resolved)")
    }

    func python(_ lab: Lab, _ host: String, _ label: String) async throws -> String {
        let folder = "/var/lib/p\(UUID().uuidString.prefix(8))"
        let made = try await lab.bash(
            host, "mkdir \(folder) && \(Lab.python) \(Lab.scripts)/tls_peer.py make \(folder) $'\(label)'")
        #expect(made.exit == .exited(0), "\(made)")
        return folder
    }

    @Test("both show one code; after two yes --tls works in both directions, and under no other key")
    func acquainted() async throws {
        let lab = try await Lab.start()
        let one = try await waiting(lab, "h1")
        let two = try await pair(lab, "h2", "h1")
        let codes = [try await code(one), try await code(two)]
        #expect(codes[0] == codes[1])
        try await one.run("yes")
        try await one.shows("waiting for the other person's answer")
        #expect(try await nothingIsKnown(lab))
        try await two.run("yes")
        for screen in [one, two] { try await screen.shows("status=0") }
        let keys = [try await lab.key("h1"), try await lab.key("h2")]
        #expect(try await known(lab, "h1") == ["@h2\t\(keys[1])", "h2.local\t\(keys[1])"])
        #expect(try await known(lab, "h2") == ["@h1\t\(keys[0])", "h1.local\t\(keys[0])"])
        for (server, client) in [("h1", "h2"), ("h2", "h1")] {
            let listener = try lab.discoverd(server, "listen", "of-\(server)", "--tls", "--", "cat")
            try await listener.line(.stdout, "published") { $0.hasPrefix("published ") }
            let said = try await lab.bash(client, "echo hello | setsid -w $discoverd connect of-\(server) --tls")
            #expect(said.exit == .exited(0) && said.output == ["hello"], "\(said)")
            #expect(
                said.errors.contains { $0.contains("is answered by \(server).local, which was paired on 20") },
                "\(said)")
            try await listener.stop()
        }
        #expect(try await known(lab, "h2").contains("of-h1._witap._tcp.local\t\(keys[0])"))
        for screen in [one, two] { try await screen.close() }
        try await lab.stop()
    }

    @Test("hashed names on both sides: pairing finds them, and writes hashes", .onlyInAll)
    func hashed() async throws {
        let lab = try await Lab.start()
        let stranger = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"
        for host in ["h1", "h2"] {
            let run = try await lab.bash(host, "$discoverd known add @stranger \(stranger) && $discoverd known hash")
            #expect(run.exit == .exited(0), "\(run)")
        }
        let one = try await waiting(lab, "h1")
        let two = try await pair(lab, "h2", "h1")
        _ = (try await code(one), try await code(two))
        for screen in [one, two] { try await screen.run("yes") }
        for screen in [one, two] { try await screen.shows("status=0") }
        let key = try await lab.key("h2")
        let known = try await known(lab, "h1")
        #expect(known.count == 3 && known.allSatisfy { $0.hasPrefix("|1|") || $0.hasPrefix("@|1|") }, "\(known)")
        #expect(known.count { $0.hasSuffix("\t\(key)") } == 2)
        let listener = try lab.discoverd("h1", "listen", "safe", "--tls", "--", "cat")
        try await listener.line(.stdout, "published") { $0.hasPrefix("published ") }
        let said = try await lab.bash("h2", "echo hello | setsid -w $discoverd connect safe --tls")
        #expect(said.exit == .exited(0) && said.output == ["hello"], "\(said)")
        try await listener.stop()
        for screen in [one, two] { try await screen.close() }
        try await lab.stop()
    }

    @Test(
        "a person who says no ends it with 77, and for who has dialled; a machine that waits goes on; nothing is stored"
    )
    func refused() async throws {
        let lab = try await Lab.start()
        for (first, second) in [("yes", "no"), ("no", ""), ("y", "")] {
            let one = try await waiting(lab, "h1")
            let two = try await pair(lab, "h2", "h1")
            _ = (try await code(one), try await code(two))
            try await one.run(first)
            if first == "y" {
                try await one.shows("Please type yes or no:")
                try await one.run("no")
            }
            if !second.isEmpty {
                try await one.shows("waiting for the other person's answer")
                try await two.run(second)
            }
            try await shows(second.isEmpty ? two : one, "the other person said no; nothing was stored")
            if !second.isEmpty { try await one.press("C-c") }
            try await one.shows(second.isEmpty ? "status=77" : "status=1")
            try await two.shows("status=77")
            #expect(try await nothingIsKnown(lab))
            for screen in [one, two] { try await screen.close() }
        }
        try await lab.stop()
    }

    @Test("Ctrl-C at the question: the other side is told, and waits on for another", .onlyInAll)
    func gone() async throws {
        let lab = try await Lab.start()
        let one = try await waiting(lab, "h1")
        let two = try await pair(lab, "h2", "h1")
        _ = (try await code(one), try await code(two))
        try await two.press("C-c")
        try await two.shows("status=1")
        try await one.shows("an attempt came to nothing: @h2 went away; nothing was stored")
        try await two.run("clear; \(Built.discoverd) pair h1; echo \"status=$?\"")
        // The answer to the code that is gone comes late, and is none to the next.
        try await one.shows("Press Enter to see it:")
        try await one.run("yes")
        let codes = [try await code(one), try await code(two)]
        #expect(codes[0] == codes[1])
        #expect(try await nothingIsKnown(lab))
        try await one.press("C-c")
        try await one.shows("status=1")
        // The terminal is as it was.
        try await one.run("clear; echo still here")
        try await one.shows("still here")
        #expect(try await nothingIsKnown(lab))
        try await one.close()
        try await lab.stop()
    }

    @Test(
        "a terminal that goes away at the question: 1 there; its person answers no more, which the other side hears as no",
        .onlyInAll,
        arguments: ["h1", "h2"], [false, true])
    func hungUp(_ host: String, otherSaidYes: Bool) async throws {
        let lab = try await Lab.start()
        let one = try await TerminalScreen(lab, "h1")
        let two = try await TerminalScreen(lab, "h2")
        for (screen, arguments) in [(one, ""), (two, "h1")] {
            try await screen.run(
                "clear; bash -c 'trap : HUP; \(Built.discoverd) pair \(arguments); echo $? >/run/status'")
            if arguments.isEmpty { try await one.shows("on the other machine: discoverd key pair h1") }
        }
        _ = (try await code(one), try await code(two))
        let (gone, left) = host == "h1" ? (one, two) : (two, one)
        if otherSaidYes {
            try await left.run("yes")
            try await left.shows("waiting for the other person's answer")
        }
        try await gone.close()
        try await shows(left, "the other person said no; nothing was stored")
        // It waits on.
        if host == "h2" { try await left.press("C-c") }
        for other in ["h1", "h2"] {
            let status = try await lab.bash(other, "until [ -s /run/status ]; do sleep 0.1; done; cat /run/status")
            #expect(status.output == [host == "h1" && other == "h2" ? "77" : "1"])
        }
        #expect(try await nothingIsKnown(lab))
        try await left.close()
        try await lab.stop()
    }

    @Test("without a terminal, or in the background of one, nobody can be asked: 64", .onlyInAll)
    func nobody() async throws {
        let lab = try await Lab.start()
        for arguments in ["", "h2"] {
            let run = try await lab.bash("h1", "setsid -w $discoverd pair \(arguments) </dev/null")
            #expect(run.exit == .exited(64) && run.failure?.contains("key pair asks a person") == true, "\(run)")
        }
        let screen = try await TerminalScreen(lab, "h1")
        try await screen.run("clear; \(Built.discoverd) pair & wait $!; echo \"status=$?\"")
        try await screen.shows("status=64")
        try await screen.close()
        try await lab.stop()
    }

    @Test("time runs out: 1", .onlyInAll)
    func late() async throws {
        let lab = try await Lab.start()
        let screen = try await pair(lab, "h1", "--timeout 2")
        try await screen.shows("status=1")
        try await screen.shows("not paired within 2 s")
        try await screen.close()
        let other = try await pair(lab, "h2", "nobody --timeout 1")
        try await other.shows("status=1")
        try await other.close()
        try await lab.stop()
    }

    @Test("Python pairs: its code is ours; a label of escapes is shown and stored as text, --json tells all of it")
    func stranger() async throws {
        let lab = try await Lab.start()
        let folder = try await python(lab, "h2", "evil\\033[2J\\nh1")
        let one = try await pair(lab, "h1", "--json >/run/json")
        let file = try await lab.bash("h1", "until grep -q waiting /run/json; do sleep 0.1; done; cat /run/json")
        #expect(file.output == [#"{"v":1,"event":"pairing","state":"waiting","name":"h1"}"#])
        let port = try await port(lab, "h2", "h1")
        let peer = try lab.python("h2", "pair_peer.py", ["call", "10.77.0.1", "\(port)", folder, "yes"])
        let theirs = try await peer.line(.stdout, "a code")
        #expect(try await code(one) == theirs)
        try await one.shows(#"  @evil\027[2J\010h1"#)
        try await one.run("yes")
        try await one.shows("status=0")
        try await peer.line(.stdout, "an answer") { $0 == "y" }
        let key = try #require(try await known(lab, "h1").first?.split(separator: "\t").last.map(String.init))
        #expect(try await known(lab, "h1") == [#"@evil\027[2J\010h1\#t\#(key)"#])
        let json = try await lab.bash("h1", "cat /run/json").output
        #expect(json.count == 3 && json[1].contains(#""state":"comparing","code":"\#(theirs)""#), "\(json)")
        #expect(json.last?.contains(#""names":["@evil\\027[2J\\010h1"]}"#) == true, "\(json)")
        try await one.close()
        try await lab.stop()
    }

    @Test(
        "a name with another key is refused, and the waiting side waits on; a key under another name is told",
        .onlyInAll)
    func conflicts() async throws {
        let lab = try await Lab.start()
        let two = try await lab.key("h2")
        let other = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"
        // The label is looked at in the handshake, which tells the caller why.
        for (name, status) in [("@h2", 77), ("h2.local", 74)] {
            try await lab.run("h1", Built.discoverd, "known", "add", name, other)
            let waiting = try await waiting(lab, "h1")
            let calling = try await pair(lab, "h2", "h1")
            try await waiting.shows("THE KEY OF \(name) HAS CHANGED")
            try await calling.shows("status=\(status)")
            #expect(try await !waiting.lines().contains { $0.contains("known add") })
            // It waits on: a stranger could have said that name.
            try await waiting.press("C-c")
            try await waiting.shows("status=1")
            #expect(try await known(lab, "h1") == ["\(name)\t\(other)"])
            for screen in [waiting, calling] { try await screen.close() }
            try await lab.run("h1", Built.discoverd, "known", "forget", name)
        }
        try await lab.run("h1", Built.discoverd, "known", "add", "tony._witap._tcp.local", two)
        let waiting = try await waiting(lab, "h1")
        let calling = try await pair(lab, "h2", "h1")
        _ = try await code(waiting)
        try await waiting.shows("It is known under another name: tony._witap._tcp.local")
        try await calling.press("C-c")
        try await waiting.press("C-c")
        for screen in [waiting, calling] { try await screen.close() }
        try await lab.stop()
    }

    @Test(
        "one in the middle: passing on fails before a code, pairing with each shows two codes", .onlyInAll,
        arguments: ["relay", "play"])
    func middle(_ what: String) async throws {
        let lab = try await Lab.start(hosts: 3)
        let one = try await waiting(lab, "h1")
        let port = try await port(lab, "h3", "h1")
        let (left, right) = (try await python(lab, "h3", "h1"), try await python(lab, "h3", "h2"))
        let middle = try lab.python(
            "h3", "pair_peer.py", ["middle", "4711", "10.77.0.1", "\(port)", left, right, what])
        try await middle.line(.stdout, "ready") { $0 == "ready" }
        let service = try await lab.avahiPublish("h3", "h9", "_discoverd-pair._tcp", "4711")
        let two = try await pair(lab, "h2", "h9")
        if what == "play" {
            try await middle.line(.stdout, "played") { $0 == "played" }
            #expect(try await code(one) != code(two))
            for screen in [one, two] { try await screen.run("no") }
            for screen in [one, two] { try await screen.shows("status=77") }
        } else {
            try await two.shows("status=74")
            try await shows(one, "not the one that it had committed to")
            #expect(try await !two.lines().contains { $0.contains("yes/no") })
            try await one.press("C-c")
        }
        #expect(try await nothingIsKnown(lab))
        service.signal(SIGTERM)
        middle.signal(SIGKILL)
        for screen in [one, two] { try await screen.close() }
        try await lab.stop()
    }
}
