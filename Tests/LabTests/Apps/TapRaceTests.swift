import Foundation
import Testing

/// `tap-race`, and thereby PeerSession, between two hosts.
@Suite("tap-race", .labSlot)
struct TapRaceTests {
    private let wait = Duration.seconds(60)

    private func start(_ lab: Lab, _ host: String, _ options: String...) throws -> LabProcess {
        try lab.exec(host, [Built.program("tap-race"), "--json", "--trust-first"] + options)
    }

    private func expect(_ player: LabProcess, _ event: String, _ more: String = "") async throws {
        try await player.line(within: wait, "\(event) \(more)") {
            $0.contains(#""event":"\#(event)""#) && (more.isEmpty || $0.contains(more))
        }
    }

    @Test("one invites, the other accepts; both see both counts")
    func race() async throws {
        let lab = try await Lab.start()
        let one = try start(lab, "h1", "--accept", "--seconds", "4")
        try await expect(
            one, "published", #""name":"h1","wanted":"h1","type":"_tap-race._tcp","domain":"local","port":"#)
        let two = try start(lab, "h2", "h1", "--seconds", "4")
        for player in [one, two] { try await expect(player, "start") }
        for _ in 0..<7 { one.write("\n") }
        try await expect(two, "tap", #""count":7"#)
        for _ in 0..<12 { two.write("\n") }
        try await expect(one, "tap", #""count":12"#)
        try await expect(one, "over", #""outcome":"lost","mine":7,"theirs":12"#)
        try await expect(two, "over", #""outcome":"won","mine":12,"theirs":7"#)
        for player in [one, two] { #expect(try await player.exit(within: wait) == .exited(0)) }
        try await lab.stop()
    }

    @Test("both invite each other simultaneously: one race", .onlyInAll)
    func atOnce() async throws {
        let lab = try await Lab.start()
        let one = try start(lab, "h1", "h2", "--seconds", "2")
        let two = try start(lab, "h2", "h1", "--seconds", "2")
        for player in [one, two] {
            #expect(try await player.exit(within: wait) == .exited(0), "\(player.lines(.stderr))")
            #expect(player.lines().filter { $0.contains(#""event":"start""#) }.count == 1)
            // The other player's departure may be reported afterwards.
            #expect(player.lines().contains { $0.contains(#""outcome":"draw","mine":0,"theirs":0"#) })
        }
        try await lab.stop()
    }

    @Test("a declined invitation; no one of that name", .onlyInAll)
    func refusals() async throws {
        let lab = try await Lab.start()
        let one = try start(lab, "h1")
        try await expect(one, "published")
        let two = try start(lab, "h2", "h1")
        try await expect(one, "invited", #""name":"h2""#)
        one.write("n\n")
        #expect(try await two.exit(within: wait) == .exited(1))
        #expect(two.lines(.stderr).last?.contains("h1 declined") == true)
        let nobody = try await lab.askApp("h2", "tap-race", "nobody\u{1B}", "--timeout", "1")
        #expect(nobody.exit == .exited(1))
        #expect(nobody.errors.last?.hasSuffix(#"nobody\u{1B} was not found"#) == true)
        one.closeInput()
        #expect(try await one.exit(within: wait) == .exited(0))
        try await lab.stop()
    }

    @Test("a player that vanishes silently is gone within 5 s; one that is killed, immediately", .onlyInAll)
    func vanished() async throws {
        let lab = try await Lab.start()
        for isKilled in [false, true] {
            let one = try start(lab, "h1", "--accept")
            try await expect(one, "published")
            let two = try start(lab, "h2", "h1")
            for player in [one, two] { try await expect(player, "start") }
            let start = ContinuousClock.now
            if isKilled {
                one.signal(SIGKILL)
            } else {
                try await lab.run("h1", "ip", "link", "set", "eth0", "down")
            }
            try await expect(two, "left", #""name":"h1""#)
            // 5 s, plus the time that a loaded machine takes to report.
            #expect(ContinuousClock.now - start < .seconds(7))
            #expect(try await two.exit(within: wait) == .exited(1))
            if !isKilled {
                one.signal(SIGKILL)
                try await lab.run("h1", "ip", "link", "set", "eth0", "up")
            }
            _ = try await one.exit(within: wait)
        }
        try await lab.stop()
    }

    /// Makes h2 count, or drop, the datagrams from h1 other than mDNS.
    private func countDatagrams(_ lab: Lab, _ verdict: String = "") async throws {
        try await lab.firewall(
            "h2", "ip saddr 10.77.0.1 udp dport != 5353 counter \(verdict)",
            "ip6 nexthdr udp udp dport != 5353 counter \(verdict)")
    }

    private func datagrams(_ lab: Lab) async throws -> Int {
        let rules = try await lab.bash("h2", "nft list table inet t").output
        return rules.compactMap { line in
            line.firstRange(of: /packets \d+/).flatMap { Int(line[$0].dropFirst(8)) }
        }.reduce(0, +)
    }

    @Test(
        "taps go over UDP; where a firewall drops that, or begins to, all arrive as well", .onlyInAll,
        arguments: [false, true])
    func datagrams(isDropped: Bool) async throws {
        let lab = try await Lab.start()
        try await countDatagrams(lab, isDropped ? "drop" : "")
        let one = try start(lab, "h1", "--accept", "--seconds", "300")
        try await expect(one, "published")
        let two = try start(lab, "h2", "h1", "--seconds", "300")
        for player in [one, two] { try await expect(player, "start") }
        // Tap until one has arrived as a datagram, or several have arrived by other means.
        var taps = 0
        let before = try await datagrams(lab)
        repeat {
            taps += 1
            one.write("\n")
            try await expect(two, "tap", #""count":\#(taps)"#)
        } while try await isDropped ? taps < 20 : datagrams(lab) < before + taps / 2 + 10
        // From now on the network drops datagrams: after some losses, a tap takes another way.
        try await countDatagrams(lab, "drop")
        let last = taps
        let deadline = ContinuousClock.now + wait
        while !two.lines().contains(where: { Self.count($0) > last }) && ContinuousClock.now < deadline {
            let seen = two.lines().count
            one.write("\n")
            await two.waitForLines(beyond: seen, within: .milliseconds(200))
        }
        #expect(two.lines().contains { Self.count($0) > last })
        for player in [one, two] {
            player.signal(SIGTERM)
            _ = try await player.exit(within: wait)
        }
        try await lab.stop()
    }

    /// The other player's taps, from a line.
    private static func count(_ line: String) -> Int {
        line.firstRange(of: /"count":\d+/).flatMap { Int(line[$0].dropFirst(8)) } ?? 0
    }

    @Test(
        "played to the end, left or killed, and restarted immediately under the same names: they find each other, ten times",
        .onlyInAll
    )
    func again() async throws {
        let lab = try await Lab.start()
        for round in 0..<10 {
            let one = try start(lab, "h1", "--name", "anna", "--accept", "--seconds", "1")
            let two = try start(lab, "h2", "anna", "--name", "bob", "--seconds", "1")
            for player in [two, one] { try await expect(player, "start") }
            switch round % 3 {
            case 0: for player in [one, two] { try await expect(player, "over") }
            case 1: for player in [one, two] { player.signal(SIGKILL) }
            default: one.signal(SIGKILL)
            }
            for player in [one, two] { _ = try await player.exit(within: wait) }
        }
        try await lab.stop()
    }

    @Test("in a terminal: invite, accept, tap, and the terminal is as before after Ctrl-C", .onlyInAll)
    func terminal() async throws {
        let lab = try await Lab.start()
        let left = try await TerminalScreen(lab, "h1")
        let right = try await TerminalScreen(lab, "h2")
        let before = try await left.settings()
        let program = "\(Built.program("tap-race")) --seconds 6 --trust-first"
        try await left.run(program)
        try await right.run(program)
        try await left.shows("> h2")
        try await right.shows("> h1")
        try await left.press("Enter")
        try await right.shows("h1 wants to race: y or n")
        try await right.press("y")
        for screen in [left, right] { try await screen.shows("s left") }
        try await left.press("a", "s", "d", "f", "a", "s", "d", "f")
        try await right.shows("eight taps") { $0.contains { $0.hasSuffix(" 8") } }
        try await left.shows("You win! 8 : 0")
        try await right.shows("h1 wins. 0 : 8")
        try await left.press("C-c")
        try await left.shows("a prompt") { $0.last == "$" }
        #expect(try await left.settings() == before)
        for screen in [left, right] { try await screen.close() }
        try await lab.stop()
    }
}
