import Foundation
import Testing

/// Whom tap-race plays with, and what others see of it.
@Suite("tap-race over TLS", .labSlot)
struct TapRaceTLSTests {
    private let wait = Duration.seconds(60)
    private static let name = "h1._tap-race._tcp.local"

    private func start(_ lab: Lab, _ host: String, _ options: String...) throws -> LabProcess {
        try lab.exec(host, [Built.program("tap-race"), "--json"] + options)
    }

    private func expect(_ player: LabProcess, _ event: String, _ more: String = "") async throws {
        try await player.line(within: wait, "\(event) \(more)") {
            $0.contains(#""event":"\#(event)""#) && (more.isEmpty || $0.contains(more))
        }
    }

    @Test("a capture has datagrams, and nothing of the game", .onlyInAll)
    func capture() async throws {
        let lab = try await Lab.start()
        let capture = try await Capture(lab, "h2")
        let one = try start(lab, "h1", "--accept", "--seconds", "6", "--trust-first")
        try await expect(one, "published")
        let two = try start(lab, "h2", "h1", "--seconds", "6", "--trust-first")
        for player in [one, two] { try await expect(player, "start") }
        for count in 1...30 {
            one.write("\n")
            try await expect(two, "tap", #""count":\#(count)"#)
        }
        for player in [one, two] { #expect(try await player.exit(within: wait) == .exited(0)) }
        let counts = try await capture.end()
        #expect(counts.tcp > 0 && counts.udp > 0, "\(counts)")
        for text in [#""count""#, #""code""#, #""token""#, #""udp""#, #""v":1"#] {
            #expect(try await !capture.has(text), "\(text)")
        }
        #expect(try await capture.has("tap-race"), "mDNS is legible, and captured")
        try await lab.stop()
    }

    @Test("players that were told each other's keys race; before, neither side takes the other, and both say so")
    func acquainted() async throws {
        let lab = try await Lab.start()
        let (here, there) = (try await lab.key("h1"), try await lab.key("h2"))
        let one = try start(lab, "h1", "--accept", "--seconds", "1")
        try await expect(one, "published")
        let unknown = try await lab.askApp("h2", "tap-race", "h1")
        #expect(unknown.exit == .exited(77), "\(unknown)")
        #expect(unknown.errors.last == "    discoverd key add '\(Self.name)' \(here)", "\(unknown)")
        try await lab.know("h2", Self.name, here)
        let stranger = try await lab.askApp("h2", "tap-race", "h1")
        #expect(stranger.exit == .exited(77), "\(stranger)")
        #expect(stranger.failure?.contains("does not let this machine in") == true, "\(stranger)")
        try await one.line(.stderr, "advice") { $0.hasSuffix("discoverd key add '@h2' \(there)") }
        try await lab.know("h1", "@h2", there)
        let two = try start(lab, "h2", "h1", "--seconds", "1")
        for player in [one, two] { #expect(try await player.exit(within: wait) == .exited(0)) }
        try await lab.stop()
    }

    @Test("a name that is bound to the key of a machine that was paired is said to be", .onlyInAll)
    func paired() async throws {
        let lab = try await Lab.start()
        let (here, there) = (try await lab.key("h1"), try await lab.key("h2"))
        let known = "/var/lib/discoverd-root/known_peers"
        let noted = try await lab.bash("h2", "umask 077; echo 'h1.local \(here) paired 2026-11-23' >>\(known)")
        #expect(noted.exit == .exited(0), "\(noted)")
        try await lab.know("h1", "@h2", there)
        let one = try start(lab, "h1", "--accept", "--seconds", "1")
        try await expect(one, "published")
        let two = try start(lab, "h2", "h1", "--seconds", "1")
        for player in [one, two] { #expect(try await player.exit(within: wait) == .exited(0)) }
        let said = "tap-race: \(Self.name) is answered by h1.local, which was paired on 2026-11-23: "
        #expect(two.lines(.stderr).contains { $0.hasPrefix(said) }, "\(two.lines(.stderr))")
        try await lab.stop()
    }

    @Test("another machine under a known name is not raced with, also with --trust-first", .onlyInAll)
    func changed() async throws {
        let lab = try await Lab.start(hosts: 3)
        let real = try start(lab, "h1", "--accept", "--seconds", "1", "--trust-first")
        try await expect(real, "published")
        let two = try start(lab, "h2", "h1", "--seconds", "1", "--trust-first")
        for player in [real, two] { #expect(try await player.exit(within: wait) == .exited(0)) }
        let impostor = try start(lab, "h3", "--name", "h1", "--accept", "--trust-first")
        try await expect(impostor, "published")
        for options in [[], ["--trust-first"]] {
            let refused = try await lab.toEnd(
                "h2", [Built.program("tap-race"), "h1"] + options, within: .seconds(60))
            #expect(refused.exit == .exited(77), "\(refused)")
            #expect(refused.failure?.hasSuffix("THE KEY OF \(Self.name) HAS CHANGED") == true, "\(refused)")
        }
        #expect(!impostor.lines().contains { $0.contains(#""event":"start""#) })
        impostor.signal(SIGTERM)
        _ = try await impostor.exit(within: wait)
        // Nor may it invite under that name.
        let waiting = try start(lab, "h2", "--accept", "--trust-first")
        try await expect(waiting, "published")
        let inviting = try await lab.askApp("h3", "tap-race", "h2", "--name", "h1", "--trust-first")
        #expect(inviting.exit == .exited(1) && inviting.failure?.contains("declined") == true, "\(inviting)")
        #expect(!waiting.lines().contains { $0.contains(#""event":"start""#) })
        waiting.signal(SIGTERM)
        _ = try await waiting.exit(within: wait)
        try await lab.stop()
    }

    @Test("plain bytes are refused, and the caller is told in a frame", .onlyInAll)
    func plain() async throws {
        let lab = try await Lab.start()
        let one = try start(lab, "h1", "--accept", "--trust-first")
        try await expect(one, "published")
        let published = try #require(one.lines().first { $0.contains(#""event":"published""#) })
        let digits = try #require(published.split(separator: #""port":"#).last).prefix { $0.isNumber }
        let hello = #"{"v":1,"id":"0000000000000007","name":"old"}"#
        let said = try await lab.bash(
            "h2",
            #"printf '\0\0\0\\#(String(hello.count + 1, radix: 8))\1%s' '\#(hello)' | nc -N 10.77.0.1 \#(digits) | od -An -tu1"#
        )
        #expect(said.output.map { $0.split(separator: " ").joined(separator: " ") } == ["0 0 0 2 3 4"], "\(said)")
        try await one.line(.stderr, "why") { $0.hasSuffix("no TLS 1.3 with the other side: it speaks no TLS") }
        one.signal(SIGTERM)
        _ = try await one.exit(within: wait)
        try await lab.stop()
    }

    @Test("in a terminal both players are asked within the screen, once", .onlyInAll)
    func questions() async throws {
        let lab = try await Lab.start()
        let (here, there) = (try await lab.key("h1"), try await lab.key("h2"))
        let left = try await TerminalScreen(lab, "h1")
        let right = try await TerminalScreen(lab, "h2")
        let before = try await left.settings()
        for screen in [left, right] { try await screen.run("\(Built.program("tap-race")) --seconds 3") }
        try await left.shows("> h2")
        try await right.shows("> h1")
        try await left.press("Enter")
        try await left.shows("the other's key") {
            $0.contains { $0.contains(there) } && $0.contains { $0.contains("y: it is") }
        }
        try await left.press("x", "y")
        try await right.shows("the caller's key") {
            $0.contains { $0.contains(here) } && $0.contains { $0.contains("@h1") }
        }
        try await right.press("y")
        try await right.shows("h1 wants to race: y or n")
        try await right.press("y")
        for screen in [left, right] { try await screen.shows("A draw. 0 : 0") }
        // Now the other way round: what each knows is the key of a caller, or of a service.
        try await right.press("Enter")
        try await right.shows("the service's key") { $0.contains { $0.contains(here) } }
        try await right.press("n")
        try await right.shows("is not known")
        for screen in [left, right] {
            try await screen.press("C-c")
            try await screen.shows("a prompt") { $0.last == "$" }
        }
        #expect(try await left.settings() == before)
        for screen in [left, right] { try await screen.close() }
        try await lab.stop()
    }
}
