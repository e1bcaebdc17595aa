import Foundation
import Testing

/// `four-in-a-row` between two hosts, and against independent programs.
@Suite("four-in-a-row", .labSlot)
struct FourInARowTests {
    private let wait = Duration.seconds(60)

    private func host(_ lab: Lab, _ options: String...) async throws -> LabProcess {
        let host = try lab.exec("h1", [Built.program("four-in-a-row"), "host", "--json"] + options)
        try await host.line(within: wait, "published") { $0.contains(#""event":"published""#) }
        return host
    }

    /// Plays a column when it is this side's turn; a game's first move is not preceded by a turn.
    private func play(_ process: LabProcess, _ column: Int, after event: String) async throws {
        try await process.line(within: wait, event) { $0.contains(#""event":"\#(event)""#) }
        process.write("\(column)\n")
    }

    @Test("a game by pipes to its end, another one in which the other begins, and the host is off the air meanwhile")
    func games() async throws {
        let lab = try await Lab.start()
        let host = try await host(lab)
        let guest = try lab.app("h2", "four-in-a-row", "join", "h1", "--json")
        try await host.line(within: wait) { $0 == #"{"v":1,"event":"playing","with":"h2","as":"host"}"# }
        try await play(host, 1, after: "start")
        for _ in 0..<3 {
            try await play(guest, 2, after: "turn")
            try await play(host, 1, after: "turn")
        }
        try await host.line(within: wait) { $0 == #"{"v":1,"event":"over","outcome":"won"}"# }
        try await guest.line(within: wait) { $0 == #"{"v":1,"event":"over","outcome":"lost"}"# }
        // No one else finds the game.
        let late = try await lab.askApp("h2", "four-in-a-row", "join", "h1", "--json")
        #expect([.exited(1), .exited(76)].contains(late.exit))
        guest.write("n\n")
        try await host.line(within: wait) { $0.contains(#""event":"ready""#) }
        host.write("n\n")
        try await play(guest, 4, after: "start")
        try await host.line(within: wait) { $0 == #"{"v":1,"event":"move","player":"opponent","column":4}"# }
        host.write("q\n")
        #expect(try await host.exit(within: wait) == .exited(0))
        // In the middle of a game; reported once.
        #expect(try await guest.exit(within: wait) == .exited(1))
        #expect(guest.lines().last == #"{"v":1,"event":"left","with":"h1"}"#)
        #expect(guest.lines(.stderr).isEmpty)
        try await lab.stop()
    }

    @Test(
        "a client of the wire plays, byte by byte; then each thing that is not allowed ends the game with status 65",
        .onlyInAll)
    func wire() async throws {
        let lab = try await Lab.start()
        let cases: [(String, String)] = [
            (#"say({"type":"column","column":7})"#, "columns 1 to 7"),
            (#"say({"type":"column","column":-1})"#, "columns 1 to 7"),
            (#"say({"type":"column","column":0}); say({"type":"column","column":0})"#, "turn"),
            (#"say({"type":"column"})"#, "without a column"),
            (#"s.sendall(struct.pack(">Q", 5) + b"\x1b[2J!")"#, "no JSON"),
            (#"s.sendall(struct.pack(">Q", 2**63))"#, "bytes"),
            (#"s.sendall(struct.pack(">Q", 100_000) + b"x" * 100_000)"#, "1024 at most"),
        ]
        for (attack, reason) in cases {
            let host = try await host(lab)
            let port = try #require(try Line(host.lines()[0]).port)
            let program = """
                import json, socket, struct, sys
                s = socket.create_connection(("10.77.0.1", \(port)))
                def say(packet, slowly=False):
                    body = json.dumps(packet).encode()
                    data = struct.pack(">Q", len(body)) + body
                    for part in ([data[i:i + 1] for i in range(len(data))] if slowly else [data]): s.sendall(part)
                def read():
                    head = s.recv(8, socket.MSG_WAITALL)
                    return json.loads(s.recv(struct.unpack(">Q", head)[0], socket.MSG_WAITALL)) if head else None
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                assert read() == {"type": "start"}
                print(read())
                say({"type": "column", "column": 3}, slowly=True)
                print(read())
                try:
                    \(attack)
                    print(read())
                except OSError: print("closed")
                """
            let client = try lab.python3("h2", program)
            try await play(host, 1, after: "start")
            try await client.line(within: wait) { $0 == "{'type': 'column', 'column': 0}" }
            try await play(host, 4, after: "turn")
            #expect(try await host.exit(within: wait) == .exited(65), "\(attack)")
            #expect(host.lines(.stderr).contains { $0.contains(reason) }, "\(attack): \(host.lines(.stderr))")
            #expect(!host.lines(.stderr).joined().contains("\u{1B}"))
            #expect(try await client.exit(within: wait) == .exited(0), "\(client.lines(.stderr))")
        }
        try await lab.stop()
    }

    @Test("input typed before the opponent joins is played; in lines both appear by name, and the end once", .onlyInAll)
    func early() async throws {
        let lab = try await Lab.start()
        let host = try lab.app("h1", "four-in-a-row", "host")
        try await host.line(within: wait) { $0.hasPrefix("waiting for an opponent as h1") }
        host.write("4\n")
        let guest = try lab.app("h2", "four-in-a-row", "join", "h1", "--name", "anna")
        try await host.line(within: wait) { $0 == "playing with anna" }
        try await host.line(within: wait) { $0 == "you: column 4" }
        try await guest.line(within: wait) { $0 == "h1: column 4" }
        guest.write("1\n")
        try await host.line(within: wait) { $0 == "anna: column 1" }
        guest.write("q\n")
        #expect(try await guest.exit(within: wait) == .exited(0))
        #expect(try await host.exit(within: wait) == .exited(1))
        #expect(host.lines().last == "anna left before the end of the game")
        #expect(host.lines(.stderr).isEmpty)
        try await lab.stop()
    }

    @Test(
        "the screen has the terminal's size, says when that is too small, and is ASCII where the locale is not UTF-8",
        .onlyInAll)
    func sizes() async throws {
        let lab = try await Lab.start()
        let screen = try await TerminalScreen(lab, "h1")
        let plain = try await TerminalScreen(lab, "h2", "LC_ALL=C")
        try await screen.run("\(Built.program("four-in-a-row")) host")
        try await screen.shows("Your game is called h1")
        try await plain.run("\(Built.program("four-in-a-row")) join h1")
        try await plain.shows("+---+---+")
        try await screen.shows("h1 (X, you) against h2 (O)")
        try await screen.shows("├───┼───┼")
        try await screen.resize(columns: 30, rows: 8)
        try await screen.shows("30×8 is too small: 34×12 is")
        // Keys still count.
        try await screen.press("3")
        try await plain.shows("Your turn.")
        try await screen.resize(columns: 120, rows: 50)
        try await screen.shows("a large board") { $0.contains { $0.contains("XXXXXXXXX") } && $0.count == 49 }
        try await screen.resize(columns: 40, rows: 12)
        try await screen.shows("a small board") {
            $0.contains { $0.hasPrefix("     │   │") } && $0.last?.contains("q: leave") == true
        }
        for screen in [screen, plain] { try await screen.close() }
        try await lab.stop()
    }

    @Test("nc on the wire: packets that a person could type, both as guest and as host", .onlyInAll)
    func netcat() async throws {
        let lab = try await Lab.start()
        let column = "\0\0\0\0\0\0\0\u{1C}" + #"{"type":"column","column":3}"#
        let show = "stdbuf -oL tr '}' '\\n'"
        let host = try await host(lab)
        let port = try #require(try Line(host.lines()[0]).port)
        let guest = try lab.exec("h2", "/bin/bash", "-c", "nc 10.77.0.1 \(port) | \(show)")
        try await play(host, 1, after: "start")
        try await guest.line(within: wait) { $0.hasSuffix(#"{"type":"start""#) }
        try await guest.line(within: wait) { $0.hasSuffix(#"{"type":"column","column":0"#) }
        guest.write(column)
        try await host.line(within: wait) { $0 == #"{"v":1,"event":"move","player":"opponent","column":4}"# }
        host.write("q\n")
        try await guest.line(within: wait) { $0.hasSuffix(#"{"type":"end""#) }
        #expect(try await host.exit(within: wait) == .exited(0))
        guest.closeInput()

        let listener = try lab.exec("h2", "/bin/bash", "-c", "nc -N -l -4 9127 | \(show)")
        let publisher = try await lab.avahiPublish("h2", "netcat", "_fourinarow._tcp", "9127")
        let joining = try lab.app("h1", "four-in-a-row", "join", "netcat", "--json")
        try await joining.line(within: wait) { $0.contains(#""event":"start","first":"opponent""#) }
        listener.write(column)
        try await play(joining, 5, after: "turn")
        try await listener.line(within: wait) { $0.hasSuffix(#"{"type":"column","column":4"#) }
        // The stream ends in the middle of a game: the opponent left.
        listener.closeInput()
        #expect(try await joining.exit(within: wait) == .exited(1))
        publisher.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("joining a server in asyncio that avahi-publish announces; it plays, is slow, and vanishes", .onlyInAll)
    func asyncio() async throws {
        let lab = try await Lab.start()
        let server = try lab.python3(
            "h1",
            """
            import asyncio, json, struct, sys
            async def serve(reader, writer):
                def say(packet):
                    body = json.dumps(packet).encode()
                    writer.write(struct.pack(">Q", len(body)) + body)
                say({"type": "start"})
                say({"type": "column", "column": 6})
                head = await reader.readexactly(8)
                print(json.loads(await reader.readexactly(struct.unpack(">Q", head)[0])), flush=True)
                # As slow as the test likes.
                await asyncio.to_thread(sys.stdin.readline)
                say({"type": "column", "column": 5})
                await writer.drain()
                await reader.read(8)
                writer.transport.abort()
                print("done", flush=True)
            async def main():
                server = await asyncio.start_server(serve, "::", 9123)
                print("ready", flush=True)
                await server.serve_forever()
            asyncio.run(main())
            """)
        try await server.line(within: wait) { $0 == "ready" }
        let publisher = try await lab.avahiPublish("h1", "evil\u{1B}[2J", "_fourinarow._tcp", "9123")
        let guest = try lab.app("h2", "four-in-a-row", "join", "--json")
        try await guest.line(within: wait, "found") { $0.contains(#""name":"evil\u001b[2J""#) }
        guest.write("1\n")
        try await play(guest, 1, after: "turn")
        try await server.line(within: wait) { $0 == "{'type': 'column', 'column': 0}" }
        server.write("\n")
        try await play(guest, 2, after: "turn")
        #expect(try await guest.exit(within: wait) == .exited(1))
        #expect(guest.lines().last == #"{"v":1,"event":"left","with":"evil\u001b[2J"}"#)
        #expect(guest.lines(.stderr).isEmpty)
        for process in [publisher, server] { process.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test("Ctrl-Z gives the terminal to the shell; fg brings back the screen, and raw mode", .onlyInAll)
    func stoppedAndContinued() async throws {
        let lab = try await Lab.start()
        let screen = try await TerminalScreen(lab, "h1")
        let before = try await screen.settings()
        try await screen.run("\(Built.program("four-in-a-row")) host")
        try await screen.shows("Your game is called h1")
        for _ in 0..<2 {
            try await screen.press("C-z")
            try await screen.shows("the shell") { $0.contains { $0.contains("Stopped") } && $0.last == "$" }
            #expect(try await screen.settings() == before)
            try await screen.run("fg")
            try await screen.shows("Your game is called h1")
        }
        // A key works without Enter.
        try await screen.press("q")
        try await screen.shows("the shell") { $0.last == "$" }
        #expect(try await screen.settings() == before)
        try await screen.close()
        try await lab.stop()
    }

    @Test(
        "in a terminal: choose, play by keys and by mouse, win, leave; the terminal is as before, also after a crash",
        .onlyInAll)
    func terminal() async throws {
        let lab = try await Lab.start()
        let program = Built.program("four-in-a-row")
        let left = try await TerminalScreen(lab, "h1")
        let right = try await TerminalScreen(lab, "h2", "NO_COLOR=1")
        let before = try await left.settings()
        try await left.run("\(program) host")
        try await left.shows("Your game is called h1")
        try await right.run(program)
        try await right.shows("> h1")
        try await right.press("Enter")
        try await left.shows("Your turn.")
        try await left.press("1")
        try await right.shows("Your turn.")
        try await right.press("Right", "Enter")
        for _ in 0..<2 {
            try await left.shows("Your turn.")
            let lines = try await left.lines()
            let numbers = try #require(lines.firstIndex { $0.contains("1   2") })
            let column = try #require(lines[numbers].firstIndex(of: "1"))
            try await left.click(lines[numbers].distance(from: lines[numbers].startIndex, to: column), numbers + 5)
            try await right.shows("Your turn.")
            try await right.press("5")
        }
        try await left.shows("Your turn.")
        try await left.press("1")
        try await left.shows("You win!")
        try await left.press("2")
        try await right.shows("h1 wins.")
        #expect(try await !right.lines(withStyles: true).joined().contains("\u{1B}[31"))
        #expect(try await !left.lines().joined().contains("No:"))
        try await left.press("C-c")
        try await left.shows("a prompt") { $0.last == "$" }
        try await right.shows("h1 left")
        #expect(try await left.settings() == before)
        for signal in ["SEGV", "ABRT", "TERM", "TRAP"] {
            let folder = try TestFolder()
            try await left.run("clear; sh -c 'echo $$ >\(folder.path)/pid; exec \(program) join'")
            try await left.shows("Up/Down: choose")
            try await lab.run("h1", "/bin/bash", "-c", "kill -\(signal) $(<\(folder.path)/pid)")
            try await left.shows("a prompt") { $0.last == "$" }
            #expect(try await left.settings() == before, "\(signal)")
        }
        for screen in [left, right] { try await screen.close() }
        try await lab.stop()
    }
}
