import Foundation
import Testing

/// `witap` between two hosts, and against independent programs.
@Suite("witap", .labSlot)
struct WiTapTests {
    private let wait = Duration.seconds(60)

    private func start(_ lab: Lab, _ host: String, _ options: String...) async throws -> LabProcess {
        let player = try lab.exec(host, [Built.program("witap"), "--json"] + options)
        try await expect(player, "published")
        return player
    }

    /// Waits until an event has been reported this often; other events may come in between.
    private func expect(_ player: LabProcess, _ event: String, _ more: String = "", times: Int = 1) async throws {
        try await player.until("\(event) \(more), \(times) times,", within: wait) { lines in
            let seen = lines.count { $0.contains(#""event":"\#(event)""#) && (more.isEmpty || $0.contains(more)) }
            return seen >= times ? seen : nil
        }
    }

    private func port(_ player: LabProcess) throws -> Int {
        try #require(player.lines().compactMap { try? Line($0) }.last { $0.event == "published" }?.port)
    }

    @Test("a player that gets no socket after a game says so", .onlyInAll)
    func noSockets() async throws {
        let lab = try await Lab.start()
        let player = try await start(lab, "h1")
        let other = try lab.exec("h2", "nc", "10.77.0.1", "\(try port(player))")
        try await expect(player, "playing")
        // It keeps its descriptors; the listener of the next game would need one more.
        try await lab.run("h1", "prlimit", "--pid", "\(player.pid)", "--nofile=3:3")
        other.signal(SIGTERM)
        #expect(try await player.exit(within: wait) == .exited(71))
        #expect(player.lines(.stderr).last == "witap: error: no sockets available: Too many open files")
        try await lab.stop()
    }

    @Test("found, invited, pads both ways, off the air meanwhile, and both are back when one leaves")
    func game() async throws {
        let lab = try await Lab.start(hosts: 3)
        let one = try await start(lab, "h1")
        let two = try await start(lab, "h2")
        let browser = try lab.discoverd("h3", "browse", "_witap._tcp", "--json")
        for _ in 0..<2 { try await browser.json(within: wait, "on the air") { $0.event == "added" } }
        try await expect(one, "added", #""name":"h2""#)
        try await expect(two, "added", #""name":"h1""#)
        one.write("h2\n")
        try await expect(one, "playing", #""with":"h2""#)
        try await expect(two, "playing", #""with":"h1""#)
        for _ in 0..<2 { try await browser.json(within: wait, "off the air") { $0.event == "removed" } }
        one.write("5\n+9\n")
        for (pad, state) in [(5, "down"), (5, "up"), (9, "down")] {
            try await expect(two, "pad", #""pad":\#(pad),"state":"\#(state)""#)
        }
        two.write("1\n")
        try await expect(one, "pad", #""pad":1,"state":"up""#)
        two.write("q\n")
        try await expect(one, "left", #""with":"h2""#)
        for player in [one, two] { try await expect(player, "published", times: 2) }
        for _ in 0..<2 { try await browser.json(within: wait, "on the air") { $0.event == "added" } }
        // And again with the sides swapped.
        try await expect(two, "added", #""name":"h1""#, times: 2)
        two.write("h1\n")
        for player in [one, two] { try await expect(player, "playing", times: 2) }
        for player in [one, two] {
            player.signal(SIGTERM)
            #expect(try await player.exit(within: wait) == .exited(0))
        }
        browser.signal(SIGTERM)
        // No player found itself.
        #expect(!one.lines().contains { $0.contains(#""added","service":{"name":"h1","#) })
        #expect(!two.lines().contains { $0.contains(#""added","service":{"name":"h2","#) })
        try await lab.stop()
    }

    @Test("two players of one name: one is renamed, and neither sees itself under the old name or the new", .onlyInAll)
    func renamed() async throws {
        let lab = try await Lab.start()
        let one = try await start(lab, "h1", "--name", "tony")
        let two = try await start(lab, "h2", "--name", "tony")
        #expect(try Line(try #require(two.lines().last { $0.contains("published") })).name == "tony #2")
        try await expect(one, "added", #""name":"tony #2""#)
        try await expect(two, "added", #""name":"tony""#)
        two.write("tony\n")
        for player in [one, two] { try await expect(player, "playing") }
        two.write("quit\n")
        #expect(try await two.exit(within: wait) == .exited(0))
        try await expect(one, "left")
        one.signal(SIGTERM)
        #expect(try await one.exit(within: wait) == .exited(0))
        #expect(!one.lines().contains { $0.contains(#""added","service":{"name":"tony","#) })
        #expect(!two.lines().contains { $0.contains(#""added","service":{"name":"tony #2","#) })
        try await lab.stop()
    }

    @Test(
        "python on the wire, over IPv6 and IPv4: bytes that are no pads are ignored, a second one is not let in",
        .onlyInAll)
    func wire() async throws {
        let lab = try await Lab.start()
        let player = try await start(lab, "h1")
        for (round, address) in ["10.77.0.1", "h1.local"].enumerated() {
            let port = try port(player)
            let client = try lab.python3(
                "h2",
                """
                import socket, subprocess, sys
                host = sys.argv[1]
                if host.endswith(".local"):
                    found = subprocess.run(["avahi-resolve", "-6n", host], capture_output=True, text=True, check=True)
                    host = found.stdout.split()[1] + "%eth0"
                s = socket.create_connection((host, \(port)))
                s.sendall(bytes([0, 10, 0x80, 0x8a, 0xff, 0x7f, 0x1b, 0x85, 0x85, 3, 5]))
                print(s.recv(1), s.recv(1))
                try:
                    second = socket.create_connection((host, \(port)), 5)
                    second.settimeout(10)
                    print("second", second.recv(1))
                except OSError as error: print("second", b"")
                s.close()
                """, address)
            try await expect(player, "playing", times: round + 1)
            for state in ["down", "up"] {
                try await expect(player, "pad", #""pad":5,"state":"\#(state)""#, times: round + 1)
            }
            player.write("7\n")
            try await client.line(within: wait) { $0 == #"b'\x87' b'\x07'"# }
            try await client.line(within: wait) { $0 == "second b''" }
            #expect(try await client.exit(within: wait) == .exited(0), "\(client.lines(.stderr))")
            try await expect(player, "left", times: round + 1)
            try await expect(player, "published", times: round + 2)
        }
        #expect(player.lines().filter { $0.contains(#""pad""#) && !$0.contains(#""pad":5"#) }.isEmpty)
        player.signal(SIGTERM)
        #expect(try await player.exit(within: wait) == .exited(0))
        try await lab.stop()
    }

    @Test(
        "nc on the wire: printf sends a touch, od shows the answer, as the inviting and as the invited side", .onlyInAll
    )
    func netcat() async throws {
        let lab = try await Lab.start()
        let player = try await start(lab, "h1")
        let caller = try lab.exec(
            "h2", "/bin/bash", "-c",
            #"(printf '\205\005'; sleep 600) | nc 10.77.0.1 \#(try port(player)) | stdbuf -oL od -An -v -w1 -tx1"#)
        try await expect(player, "playing")
        for state in ["down", "up"] { try await expect(player, "pad", #""pad":5,"state":"\#(state)""#) }
        player.write("7\nq\n")
        for byte in ["87", "07"] { try await caller.line(within: wait) { $0.hasSuffix(byte) } }
        caller.signal(SIGTERM)
        try await expect(player, "published", times: 2)

        let listener = try lab.exec(
            "h2", "/bin/bash", "-c", #"printf '\211\011' | nc -N -l -4 9126 | stdbuf -oL od -An -v -w1 -tx1"#)
        let publisher = try await lab.avahiPublish("h2", "netcat", "_witap._tcp", "9126")
        try await expect(player, "added", #""name":"netcat""#)
        player.write("netcat\n")
        try await expect(player, "playing", "netcat")
        for state in ["down", "up"] { try await expect(player, "pad", #""pad":9,"state":"\#(state)""#) }
        try await expect(player, "left", "netcat")
        for process in [publisher, listener, player] { process.signal(SIGTERM) }
        #expect(try await player.exit(within: wait) == .exited(0))
        try await lab.stop()
    }

    @Test(
        "an asyncio player with a hostile name is invited; an announced one that does not answer is reported",
        .onlyInAll)
    func asyncio() async throws {
        let lab = try await Lab.start()
        let other = try lab.python3(
            "h1",
            """
            import asyncio
            async def serve(reader, writer):
                print((await reader.readexactly(2)).hex(), flush=True)
                writer.write(bytes([0x81, 1])); await writer.drain()
                writer.close()
            async def main():
                server = await asyncio.start_server(serve, "0.0.0.0", 9124)
                print("ready", flush=True)
                await server.serve_forever()
            asyncio.run(main())
            """)
        try await other.line(within: wait) { $0 == "ready" }
        let evil = try await lab.avahiPublish("h1", "\u{1B}[31mevil", "_witap._tcp", "9124")
        let dead = try await lab.avahiPublish("h1", "dead", "_witap._tcp", "9125")
        let player = try await start(lab, "h2")
        for name in [#"\u001b[31mevil"#, "dead"] { try await expect(player, "added", #""name":"\#(name)""#) }
        player.write("dead\n")
        try await expect(player, "inviting", #""service":{"name":"dead","type":"_witap._tcp","domain":"local"}"#)
        try await player.line(.stderr, within: wait) { $0.contains("dead") }
        try await expect(player, "published", times: 2)
        try await expect(player, "added", "evil", times: 2)
        // First in the list: the escape sorts before all letters.
        player.write("1\n")
        try await expect(player, "playing", "evil")
        player.write("4\n")
        try await other.line(within: wait) { $0 == "8404" }
        try await expect(player, "pad", #""pad":1,"state":"up""#)
        try await expect(player, "left", "evil")
        try await expect(player, "published", times: 3)
        player.closeInput()
        #expect(try await player.exit(within: wait) == .exited(0))
        #expect(!(player.lines() + player.lines(.stderr)).joined().contains("\u{1B}"))
        for process in [evil, dead, other] { process.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test("where there is no IPv6 it is played over IPv4", .onlyInAll)
    func ipv4Only() async throws {
        let lab = try await Lab.start(hosts: 2, "--ipv4-only")
        let one = try await start(lab, "h1")
        let two = try await start(lab, "h2")
        try await expect(two, "added")
        two.write("h1\n")
        for player in [one, two] { try await expect(player, "playing") }
        for player in [one, two] { player.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test(
        "in a terminal: keys and mouse light pads, q goes back to the list, Ctrl-C gives the terminal back", .onlyInAll)
    func terminal() async throws {
        let lab = try await Lab.start()
        let left = try await TerminalScreen(lab, "h1")
        let right = try await TerminalScreen(lab, "h2", "TERM=vt100")
        let before = try await left.settings()
        try await left.run(Built.program("witap"))
        try await right.run(Built.program("witap"))
        try await left.shows("> h2")
        try await right.shows("> h1")
        try await left.press("Enter")
        for screen in [left, right] { try await screen.shows("(you, ===)") }
        // An inviter leaves the air before it can be resolved, and calls from a link-local address.
        try await right.shows("h2 (you, ===) and h1 (***)")
        // A mouse press holds the second pad until it is released.
        try await left.holdMouse(37, 5)
        try await right.shows("*****")
        try await left.click(37, 5)
        try await right.shows("all pads up") { !$0.joined(separator: "\n").contains("*****") }
        try await right.press("q")
        try await left.shows("left.")
        try await left.shows("> h2")
        try await left.press("C-c")
        try await left.shows("a prompt") { $0.last == "$" }
        #expect(try await left.settings() == before)
        for screen in [left, right] { try await screen.close() }
        try await lab.stop()
    }
}
