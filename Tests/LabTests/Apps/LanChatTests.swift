import Foundation
import Testing

@Suite("lanchat --plain between two hosts", .labSlot)
struct LanChatTests {
    private let program = "lanchat"

    private func serve(_ lab: Lab, _ arguments: String...) async throws -> LabProcess {
        let server = try lab.exec("h1", [Built.program(program), "serve", "--name", "den", "--plain"] + arguments)
        try await server.line { $0 == "published den._chat-discoverd._tcp.local port 6222" }
        return server
    }

    @Test("found by type, by name and by host; nc joins; everyone sees who joins, speaks and leaves")
    func story() async throws {
        let lab = try await Lab.start()
        let server = try await serve(lab, "--nick", "keeper")
        let anna = try lab.app("h2", program, "join", "--plain", "--nick", "anna")
        try await anna.line { $0 == "joining den" }
        try await anna.line { $0 == "anna has joined" }
        let bob = try lab.app("h1", program, "join", "--plain", "den", "--nick", "bob", "--json")
        try await bob.line { $0 == #"{"v":1,"event":"joined","nick":"bob"}"# }
        let nc = try lab.exec("h2", "nc", "-N", "10.77.0.1", "6222")
        nc.write("iam:carl\r\nmsg:hello from nc\r\n")
        try await nc.line { $0 == "carl: hello from nc" }
        let dora = try lab.app("h2", program, "join", "--plain", "--host", "10.77.0.1", "--nick", "dora")
        try await dora.line { $0 == "dora has joined" }

        anna.write("good morning\n//slash\n/who\n/nick bella\n/nick bella\n")
        try await nc.line { $0 == "anna: good morning" }
        try await nc.line { $0 == "anna: /slash" }
        try await anna.line { $0 == "* here: anna, bob, carl, dora" }
        try await nc.line { $0 == "* anna is now: bella" }
        try await bob.line { $0 == #"{"v":1,"event":"message","nick":"carl","text":"hello from nc"}"# }
        try await bob.line { $0 == #"{"v":1,"event":"renamed","nick":"bella","was":"anna"}"# }
        try await anna.line { $0 == "* you are bella already" }
        try await server.line { $0 == "anna: good morning" }

        dora.write("/quit\n")
        #expect(try await dora.exit() == .exited(0))
        try await nc.line { $0 == "dora has left" }
        // The end of standard input leaves the room (below), after earlier messages were delivered.
        // A person at the server joins the room by speaking.
        server.write("who is there?\n/who\n")
        try await nc.line { $0 == "keeper has joined" }
        try await nc.line { $0 == "keeper: who is there?" }
        try await server.line { $0 == "* here: bella, bob, carl, keeper" }
        server.closeInput()
        anna.write("last words\n")
        anna.closeInput()
        #expect(try await anna.exit() == .exited(0))
        #expect(anna.lines().contains("bella: last words"))
        try await nc.line { $0 == "bella has left" }
        nc.signal(SIGKILL)
        try await bob.line { $0 == #"{"v":1,"event":"left","nick":"carl"}"# }

        try await server.stop()
        #expect(try await bob.exit() == .exited(0), "the room is closed")
        #expect(bob.lines().last == #"{"v":1,"event":"notice","text":"the room was closed"}"#)
        try await lab.stop()
    }

    @Test(
        "refusals: no such room, no listener, a bad nick, the port is taken, a nick is taken, the room is full",
        .onlyInAll)
    func refusals() async throws {
        let lab = try await Lab.start()
        let server = try await serve(lab, "--max-clients", "2")
        #expect(try await lab.askApp("h2", program, "join", "--plain", "nowhere").exit == .exited(1))
        #expect(
            try await lab.askApp("h2", program, "join", "--plain", "--host", "10.77.0.1", "--port", "1").exit
                == .exited(76))
        #expect(try await lab.askApp("h2", program, "join", "--plain", "--nick", "a:b").exit == .exited(64))
        #expect(try await lab.askApp("h1", program, "serve").exit == .exited(71))
        let first = try lab.app("h2", program, "join", "--plain", "--nick", "anna")
        try await first.line { $0 == "anna has joined" }
        let second = try lab.app("h2", program, "join", "--plain", "--nick", "Anna")
        try await second.line { $0 == "* the nick Anna is taken" }
        second.write("/nick eve\nhi\n")
        try await first.line { $0 == "eve: hi" }
        let third = try await lab.askApp("h2", program, "join", "--plain", "--nick", "x")
        #expect(third.output == ["joining den", "* the room is full"])
        try await server.stop()
        try await lab.stop()
    }

    @Test("escape sequences, a megabyte in a line, invalid UTF-8, iam twice, half a line: no one is harmed", .onlyInAll)
    func hostile() async throws {
        let lab = try await Lab.start()
        let server = try await serve(lab)
        let anna = try lab.app("h2", program, "join", "--plain", "--nick", "anna")
        try await anna.line { $0 == "anna has joined" }
        let nc = try lab.exec("h2", "nc", "10.77.0.1", "6222")
        nc.write("iam:nc\n")
        try await nc.line { $0 == "nc has joined" }
        let evil = try lab.python3("h2", Self.evil)
        #expect(try await evil.exit(within: .seconds(60)) == .exited(0), "\(evil.lines(.stderr))")
        #expect(evil.lines().contains("* evil is now: evil2"))
        #expect(evil.lines().contains("* that line is too long: 4096 bytes at most"))
        for process in [anna, nc] {
            try await process.line(within: .seconds(30)) { $0 == "evil2: the end" }
            try await process.line { $0 == "evil2 has left" }
        }
        for process in [anna, nc, server] {
            let seen = process.lines()
            #expect(!seen.contains { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } })
            #expect(!seen.contains { $0.unicodeScalars.contains { (0x80...0x9F).contains($0.value) } })
            #expect(!seen.contains { $0.utf8.count > 5000 })
            #expect(seen.contains("evil2: \u{FFFD}[2J\u{FFFD}]0;title\u{FFFD}\u{FFFD}"))
        }
        // A hostile server cannot harm the client either.
        let fake = try lab.python3("h1", Self.fakeServer)
        try await fake.line { $0 == "ready" }
        let guest = try await lab.askApp(
            "h2", program, "join", "--plain", "--host", "10.77.0.1", "--port", "6300", "--nick", "x")
        #expect(guest.exit == .exited(0), "\(guest.errors)")
        #expect(!guest.output.joined().utf8.contains(0x1B))
        #expect(guest.output.last == "* after")
        try await server.stop()
        try await lab.stop()
    }

    @Test("of several rooms one has to be named where there is no terminal; the error names them", .onlyInAll)
    func several() async throws {
        let lab = try await Lab.start()
        let server = try await serve(lab)
        let other = try lab.app("h2", program, "serve", "--plain", "--name", "attic")
        try await other.line { $0.hasPrefix("published") }
        let asked = try await lab.askApp("h2", program, "join", "--plain")
        #expect(asked.exit == .exited(64))
        #expect(asked.errors.first?.hasSuffix("there are 2 rooms, and none was named: attic, den") == true)
        for server in [server, other] { try await server.stop() }
        try await lab.stop()
    }

    @Test("a host that takes places under many addresses, and joins, keeps no other out", .onlyInAll)
    func places() async throws {
        let lab = try await Lab.start(hosts: 3)
        let server = try await serve(lab, "--max-clients", "40", "--max-per-host", "8")
        let evil = try lab.python3(
            "h2",
            """
            import socket, subprocess
            held = []
            for number in range(102, 110):
                subprocess.run(["ip", "address", "add", f"10.77.0.{number}/24", "dev", "eth0"], check=True)
                for i in range(9):
                    s = socket.create_connection(("10.77.0.1", 6222), source_address=(f"10.77.0.{number}", 0))
                    if i % 2: s.sendall(b"iam:e%d-%d\\n" % (number, i))
                    held.append(s)
            print(held[8].recv(100).decode())
            input()
            """)
        try await evil.line(within: .seconds(30)) { $0 == "* your host has as many places here as one may have" }
        for nick in ["anna", "bob"] {
            let newcomer = try lab.app("h3", program, "join", "--plain", "den", "--nick", nick)
            try await newcomer.line { $0 == "\(nick) has joined" }
            newcomer.write("here I am\n")
            try await newcomer.line { $0 == "\(nick): here I am" }
        }
        evil.signal(SIGTERM)
        try await server.stop()
        try await lab.stop()
    }

    @Test("500 clients hear everything; one that does not read is dropped and slows no one", .onlyInAll)
    func many() async throws {
        let lab = try await Lab.start()
        let server = try await serve(lab, "--max-per-host", "600")
        let clients = try lab.python3("h2", Self.crowd)
        #expect(try await clients.exit(within: .seconds(300)) == .exited(0), "\(clients.lines(.stderr).suffix(5))")
        #expect(clients.lines().suffix(2) == ["the slow one is dropped", "500 heard everything"])
        #expect(!server.lines(.stderr).contains { $0.contains("error") })
        try await server.stop()
        try await lab.stop()
    }

    /// What no one should send.
    private static let evil = """
        import socket
        s = socket.create_connection(("10.77.0.1", 6222))
        s.sendall(b"iam:evil\\niam:evil2\\nmsg:\\x1b[2J\\x1b]0;title\\x07\\xff\\n")
        s.sendall(b"msg:" + b"x" * 1000000 + b"\\n" + b"msg:\\xe2\\x80\\xae\\xc2\\x9b31m\\n\\0\\0\\n" + b"msg:a\\rb\\n")
        s.sendall(b"y" * 100000 + b"\\nmsg:the end\\nmsg:half a li")
        s.shutdown(socket.SHUT_WR)
        data = b""
        while True:
            more = s.recv(65536)
            if not more: break
            data += more
        print(data.decode("utf-8"))
        """

    private static let fakeServer = """
        import socket
        l = socket.create_server(("0.0.0.0", 6300))
        print("ready")
        s, _ = l.accept()
        s.sendall(b"\\x1b[2J\\x1b]0;x\\x07: hi\\n" + b"z" * 3000000 + b"\\n\\xff\\xfe\\n* after\\n")
        s.shutdown(socket.SHUT_WR)
        while s.recv(65536): pass
        """

    /// 500 clients that read, and one that does not; 10 of the 500 speak until the slow one is dropped.
    private static let crowd = """
        import asyncio, resource, socket
        resource.setrlimit(resource.RLIMIT_NOFILE, (2048, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        COUNT, TEXT = 500, "x" * 3900
        dropped, news = asyncio.Event(), asyncio.Event()
        said = 0
        async def read(reader, seen):
            while line := await reader.readline():
                if line == b"slow has left\\n": dropped.set()
                elif line.startswith(b"n") and b": " in line:
                    seen.append(line.split(b" ", 2)[1])
                    news.set()
                    if line.endswith(b"last\\n"): return
        async def main():
            global said
            slow = socket.socket(); slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("10.77.0.1", 6222)); slow.sendall(b"iam:slow\\n")
            clients = []
            for i in range(COUNT):
                reader, writer = await asyncio.open_connection("10.77.0.1", 6222, limit=1 << 20)
                writer.write(b"iam:n%d\\n" % i)
                while (await reader.readline()) != b"n%d has joined\\n" % i: pass
                clients.append((reader, writer, []))
            readers = [asyncio.create_task(read(r, seen)) for r, _, seen in clients]
            while not dropped.is_set():
                assert said < 5000, "the slow one is still there"
                for _, writer, _ in clients[:10]:
                    writer.write(f"msg:{said} {TEXT}\\n".encode()); said += 1
                while min(len(seen) for _, _, seen in clients) < said:
                    news.clear()
                    await news.wait()
            print("the slow one is dropped")
            clients[0][1].write(f"msg:{said} last\\n".encode()); said += 1
            await asyncio.gather(*readers)
            for _, _, seen in clients: assert sorted(map(int, seen)) == list(range(said)), seen
            print(f"{COUNT} heard everything")
        asyncio.run(asyncio.wait_for(main(), 280))
        """
}
