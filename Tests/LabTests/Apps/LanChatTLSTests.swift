import Foundation
import Testing

/// Whom lanchat lets in, and what others see of it.
@Suite("lanchat over TLS", .labSlot)
struct LanChatTLSTests {
    private static let room = "den._chat-discoverd._tcp.local"

    private func serve(_ lab: Lab, _ arguments: String...) async throws -> LabProcess {
        let server = try lab.exec("h1", [Built.program("lanchat"), "serve", "--name", "den"] + arguments)
        try await server.line { $0 == "published \(Self.room) port 6222" }
        return server
    }

    private func join(_ lab: Lab, _ host: String, _ arguments: String...) throws -> LabProcess {
        try lab.exec(host, [Built.program("lanchat"), "join"] + arguments)
    }

    @Test(
        "a capture has no nick and no message; of a plain room it has both", .onlyInAll,
        arguments: ["--trust-first", "--plain"])
    func capture(_ option: String) async throws {
        let lab = try await Lab.start()
        let capture = try await Capture(lab, "h2")
        let server = try await serve(lab, option)
        let anna = try join(lab, "h2", "den", "--nick", "berenice", option)
        try await anna.line { $0 == "berenice has joined" }
        anna.write("the raven sits quietly\n/who\n")
        try await server.line { $0 == "berenice: the raven sits quietly" }
        try await anna.line { $0 == "* here: berenice" }
        anna.closeInput()
        #expect(try await anna.exit() == .exited(0))
        try await server.stop()
        #expect(try await capture.end().tcp > 0)
        for text in ["berenice", "the raven", "iam:", "msg:", "has joined"] {
            #expect(try await capture.has(text) == (option == "--plain"), "\(text)")
        }
        #expect(try await capture.has("chat-discoverd"), "mDNS is legible, and captured")
        try await lab.stop()
    }

    @Test("who does not know the room's key does not join; whom the room does not know, neither; both are told how to")
    func acquainted() async throws {
        let lab = try await Lab.start()
        let server = try await serve(lab)
        let (room, guest) = (try await lab.key("h1"), try await lab.key("h2"))
        let unknown = try await lab.askApp("h2", "lanchat", "join", "den", "--nick", "anna")
        #expect(unknown.exit == .exited(77), "\(unknown)")
        #expect(unknown.errors.last == "    discoverd key add '\(Self.room)' \(room)", "\(unknown)")
        try await lab.know("h2", Self.room, room)
        let stranger = try await lab.askApp("h2", "lanchat", "join", "den", "--nick", "anna")
        #expect(stranger.exit == .exited(77), "\(stranger)")
        #expect(stranger.failure?.contains("does not let this machine in") == true, "\(stranger)")
        try await server.line(.stderr, "advice") { $0.hasSuffix("discoverd key add '@h2' \(guest)") }
        #expect(!server.lines().contains { $0.contains("anna") })
        try await lab.know("h1", "@h2", guest)
        let anna = try join(lab, "h2", "den", "--nick", "anna")
        try await anna.line { $0 == "anna has joined" }
        anna.write("hello\n")
        try await server.line { $0 == "anna: hello" }
        // The end of the room is not the end of a connection without a word.
        try await server.stop()
        #expect(try await anna.exit() == .exited(0), "\(anna.lines(.stderr))")
        #expect(anna.lines().last == "* the room was closed")
        try await lab.stop()
    }

    @Test("a room that has another key than it had gets no word, also with --trust-first", .onlyInAll)
    func changed() async throws {
        let lab = try await Lab.start()
        let first = try await serve(lab, "--trust-first")
        let anna = try join(lab, "h2", "--nick", "anna", "--trust-first")
        try await anna.line { $0 == "anna has joined" }
        try await first.stop()
        _ = try await anna.exit()
        try await lab.forgetIdentity("h1")
        let second = try await serve(lab, "--trust-first")
        for options in [[], ["--trust-first"]] {
            let refused = try await lab.toEnd(
                "h2", [Built.program("lanchat"), "join", "den", "--nick", "anna"] + options, within: .seconds(30))
            #expect(refused.exit == .exited(77), "\(refused)")
            #expect(refused.failure?.hasSuffix("THE KEY OF \(Self.room) HAS CHANGED") == true, "\(refused)")
            #expect(refused.errors.contains { $0.contains("announces another key") }, "\(refused)")
        }
        let other = try join(lab, "h2", "--host", "10.77.0.1", "--nick", "anna", "--trust-first")
        try await other.line { $0 == "anna has joined" }
        other.closeInput()
        #expect(try await other.exit() == .exited(0))
        let lines = second.lines().filter { $0.contains("anna") }
        #expect(lines == ["anna has joined", "anna has left"], "what was refused said nothing: \(lines)")
        try await second.stop()
        try await lab.stop()
    }

    @Test("plain bytes are refused by a room with TLS, and TLS by a plain room; each side is told", .onlyInAll)
    func plain() async throws {
        let lab = try await Lab.start()
        let secured = try await serve(lab, "--trust-first")
        let told = "* this room speaks TLS only: lanchat join without --plain"
        let nc = try await lab.bash("h2", "printf 'iam:bob\\nmsg:hello\\n' | nc -N 10.77.0.1 6222")
        #expect(nc.output == [told], "\(nc)")
        try await secured.line(.stderr, "why") {
            $0 == "lanchat: a caller from 10.77.0.2 was refused: no TLS 1.3 with the other side: it speaks no TLS"
        }
        let bob = try await lab.askApp("h2", "lanchat", "join", "den", "--plain", "--nick", "bob")
        #expect(bob.output == [told], "\(bob)")
        #expect(!secured.lines().contains { $0.contains("bob") })
        try await secured.stop()

        let plain = try await serve(lab, "--plain")
        let anna = try await lab.askApp("h2", "lanchat", "join", "den", "--nick", "anna", "--trust-first")
        #expect(anna.exit == .exited(76) && anna.failure?.contains("it speaks no TLS") == true, "\(anna)")
        #expect(anna.errors.contains { $0.contains("--plain") }, "\(anna)")
        try await plain.line(.stderr, "why") {
            $0.hasPrefix("lanchat: a caller from ")
                && $0.hasSuffix(" was refused: it speaks TLS, and this room is plain")
        }
        let carl = try await lab.bash("h2", "printf 'iam:carl\\n' | nc -N 10.77.0.1 6222")
        #expect(carl.output.first == "carl has joined", "\(carl)")
        for (command, options) in [("serve", ["--trust-first"]), ("join", ["--pin", try await lab.key("h1")])] {
            let both = try await lab.toEnd(
                "h2", [Built.program("lanchat"), command, "--plain"] + options, within: .seconds(10))
            #expect(both.exit == .exited(64), "\(both)")
        }
        try await plain.stop()
        try await lab.stop()
    }

    @Test("who takes a room's name, and announces no TLS, gets no byte of what is said", .onlyInAll)
    func stripped() async throws {
        let lab = try await Lab.start()
        let service = try await lab.publish("h1", "den", "6300", "--type", "_chat-discoverd._tcp")
        let fake = try lab.python3(
            "h1",
            """
            import socket
            l = socket.create_server(("0.0.0.0", 6300))
            print("ready")
            while True:
                s, _ = l.accept()
                s.settimeout(5)
                print(s.recv(65536))
                s.sendall(b"* welcome\\n")
                s.close()
            """)
        try await fake.line { $0 == "ready" }
        let anna = try await lab.bash(
            "h2", "echo secret | \(Built.program("lanchat")) join den --nick anna --trust-first")
        #expect(anna.exit == .exited(76), "\(anna)")
        try await fake.line(.stdout, "the handshake") { $0.hasPrefix(#"b'\x16\x03"#) }
        #expect(!fake.lines().contains { $0.contains("anna") || $0.contains("secret") })
        fake.signal(SIGTERM)
        service.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("a nick is its key's, also while it is away", .onlyInAll)
    func nicks() async throws {
        let lab = try await Lab.start(hosts: 3)
        let server = try await serve(lab, "--trust-first")
        let anna = try join(lab, "h2", "den", "--nick", "anna", "--trust-first")
        try await anna.line { $0 == "anna has joined" }
        try await server.line(.stderr, "who is new") {
            $0.hasPrefix("lanchat: @h2 is let in, and known from now on: SHA256:")
        }
        anna.closeInput()
        #expect(try await anna.exit() == .exited(0))
        let other = try join(lab, "h3", "den", "--nick", "Anna", "--trust-first")
        try await other.line { $0 == "* the nick Anna is another's here" }
        let again = try join(lab, "h2", "den", "--nick", "anna")
        try await again.line { $0 == "anna has joined" }
        for process in [other, again] { process.closeInput() }
        try await server.stop()
        try await lab.stop()
    }

    @Test("at a terminal a person is asked about the room's key once, before the room is on the screen", .onlyInAll)
    func question() async throws {
        let lab = try await Lab.start()
        let server = try await serve(lab, "--trust-first")
        let key = try await lab.key("h1")
        let screen = try await TerminalScreen(lab, "h2")
        let join = "\(Built.program("lanchat")) join --nick anna"
        try await screen.run(join)
        try await screen.shows("the key") {
            $0.contains { $0.contains(key) } && $0.contains { $0.contains("(yes/no)?") }
        }
        try await screen.run("no")
        try await screen.shows("a refusal") { $0.contains { $0.contains("is not known") } && $0.last == "$" }
        try await screen.run("echo \"<$?>\"; clear")
        try await screen.run(join)
        try await screen.shows("(yes/no)?")
        try await screen.run("yes")
        try await screen.shows("the room") { $0.suffix(2) == ["* here: anna", ">"] }
        try await screen.press("C-c")
        try await screen.shows("a prompt") { $0.last == "$" }
        try await screen.run("clear")
        try await screen.run(join)
        try await screen.shows("the room, unasked") {
            $0.suffix(2) == ["* here: anna", ">"] && !$0.contains { $0.contains("yes/no") }
        }
        try await screen.press("C-c")
        try await screen.shows("a prompt") { $0.last == "$" }
        try await screen.close()
        try await server.stop()
        try await lab.stop()
    }
}
