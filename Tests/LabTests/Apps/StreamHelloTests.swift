import Foundation
import Testing

@Suite("stream-hello between two hosts", .labSlot)
struct StreamHelloTests {
    private let program = "stream-hello"

    @Test("port 9000, by address: the client's and the server's greetings, zero bytes included; nc on either side")
    func plain() async throws {
        let lab = try await Lab.start()
        let server = try lab.app("h1", program, "serve")
        try await server.line { $0 == "listening on port 9000" }

        let client = try await lab.askApp("h2", program, "connect", "10.77.0.1")
        #expect(client.exit == .exited(0))
        #expect(client.output.contains(#"10.77.0.1:9000  sent 14 bytes: "Hello Server!\u{0}""#))
        #expect(client.output.contains(#"10.77.0.1:9000  14 bytes available: "Hello Client!\u{0}""#))
        #expect(client.output.first == "10.77.0.1:9000  open completed" && client.output.last == "10.77.0.1:9000  end")
        try await server.line { $0.hasSuffix(#"14 bytes available: "Hello Server!\u{0}""#) }

        let nc = try await lab.bash("h2", #"printf 'Hello Server!\0' | nc -N 10.77.0.1 9000 | od -An -c | tr -d ' \n'"#)
        #expect(nc.output == [#"HelloClient!\0"#])
        // Someone who types, and ends with a newline.
        let typed = try await lab.bash("h2", "echo hi | nc -N 10.77.0.1 9000 | tr -d '\\0'; echo")
        #expect(typed.output == ["Hello Client!"])

        let listener = try lab.exec(
            "h1", "/bin/bash", "-c", #"printf 'Hello Client!\0' | nc -lnv 9100 | od -An -c | tr -d ' \n'"#)
        try await listener.line(.stderr) { $0.hasPrefix("Listening on") }
        let greeting = try await lab.askApp("h2", program, "connect", "10.77.0.1", "9100")
        #expect(greeting.exit == .exited(0))
        #expect(try await listener.exit() == .exited(0))
        #expect(listener.lines() == [#"HelloServer!\0"#])
        try await server.stop()
        try await lab.stop()
    }

    @Test("over Bonjour: the server's port is published; one client resolves the name, the other browses", .onlyInAll)
    func published() async throws {
        let lab = try await Lab.start()
        let browser = try lab.app("h2", program, "browse", "--json")
        try await browser.line { $0.contains(#""event":"will-search""#) }
        let server = try lab.app("h1", program, "serve", "--publish")
        try await server.line { $0.hasPrefix("published tony._tonyipp._tcp.local port ") }
        try await browser.line { $0.contains(#""event":"service-found","name":"tony""#) }
        try await browser.line {
            $0.contains(#""event":"bytes-available""#) && $0.contains(#""text":"Hello Client!\u0000""#)
        }

        let resolver = try await lab.askApp("h2", program, "resolve", "--within", "5")
        #expect(resolver.exit == .exited(0))
        #expect(resolver.output.first == "will resolve tony within 5.0 seconds")
        #expect(resolver.output.contains { $0.hasPrefix("did resolve tony: 10.77.0.1:") })
        #expect(resolver.output.contains { $0.hasSuffix(#"14 bytes available: "Hello Client!\u{0}""#) })

        try await server.stop()
        // The goodbye shrinks the list, not the end of the record's 75 minutes.
        try await browser.line { $0.contains(#""event":"service-removed","name":"tony""#) && $0.contains(#""now":[]"#) }
        browser.signal(SIGINT)
        #expect(try await browser.exit() == .exited(0))
        #expect(browser.lines().last?.contains("did-stop") == true)
        try await lab.stop()
    }

    @Test("a missing name is not resolved within a second, and is reported with its error", .onlyInAll)
    func notResolved() async throws {
        let lab = try await Lab.start()
        let run = try await lab.askApp("h2", program, "resolve", "nobody", "--json")
        #expect(run.exit == .exited(1))
        #expect(run.output.first?.contains("will-resolve") == true)
        #expect(run.output.last?.contains(#""event":"did-not-resolve","name":"nobody","code":"timed-out""#) == true)
        try await lab.stop()
    }

    @Test("refusals: no listener, no such host, the port is taken, no answer, the other side breaks off", .onlyInAll)
    func refusals() async throws {
        let lab = try await Lab.start()
        #expect(try await lab.askApp("h2", program, "connect", "10.77.0.1", "9999").exit == .exited(76))
        #expect(try await lab.askApp("h2", program, "connect", "no-such-host.invalid").exit == .exited(1))
        #expect(try await lab.askApp("h2", program, "connect", "10.77.0.1", "0").exit == .exited(64))
        let server = try lab.app("h1", program, "serve")
        try await server.line { $0.hasPrefix("listening") }
        let second = try await lab.askApp("h1", program, "serve")
        #expect(second.exit == .exited(71))
        #expect(second.errors == ["stream-hello: error: cannot listen on port 9000: Address already in use"])

        let others = try lab.python3("h1", Self.others)
        try await others.line { $0 == "ready" }
        let silent = try await lab.askApp("h2", program, "connect", "10.77.0.1", "9200", "--timeout", "0.5")
        #expect(silent.exit == .exited(1))
        let broken = try await lab.askApp("h2", program, "connect", "10.77.0.1", "9201")
        #expect(broken.exit == .exited(74), "\(broken.errors)")
        let hostile = try await lab.askApp("h2", program, "connect", "10.77.0.1", "9202")
        #expect(hostile.exit == .exited(0))
        #expect(!hostile.output.joined().utf8.contains(0x1B))
        #expect(hostile.output.contains { $0.contains(#"\u{1B}[2J"#) })
        try await server.stop()
        try await lab.stop()
    }

    @Test("clients that send byte by byte, flood or vanish do not disturb the others", .onlyInAll)
    func slow() async throws {
        let lab = try await Lab.start()
        let server = try lab.app("h1", program, "serve")
        try await server.line { $0.hasPrefix("listening") }
        let client = try lab.python3("h2", Self.clients)
        #expect(try await client.exit(within: .seconds(60)) == .exited(0), "\(client.lines(.stderr))")
        #expect(client.lines().last == "answered")
        try await server.stop()
        try await lab.stop()
    }

    /// Servers that say nothing, break off, or send what a terminal must not see.
    private static let others = """
        import asyncio, socket, struct
        async def silent(reader, writer): await reader.read()
        async def broken(reader, writer):
            await reader.read(1)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        async def hostile(reader, writer):
            writer.write(b"\\x1b[2J\\x9b\\xff evil\\0"); await writer.drain(); writer.close()
        async def main():
            for port, handler in ((9200, silent), (9201, broken), (9202, hostile)):
                await asyncio.start_server(handler, "0.0.0.0", port)
            print("ready"); await asyncio.Event().wait()
        asyncio.run(main())
        """

    /// `pause` makes a client slow: it is the fault itself, and nothing waits for its end.
    private static let clients = """
        import asyncio
        async def hello(pieces, pause=0.0):
            reader, writer = await asyncio.open_connection("10.77.0.1", 9000)
            for piece in pieces:
                writer.write(piece); await writer.drain(); await asyncio.sleep(pause)
            answer = await asyncio.wait_for(reader.readuntil(b"\\0"), 30)
            assert answer == b"Hello Client!\\0", answer
            writer.close()
        async def main():
            silent = [await asyncio.open_connection("10.77.0.1", 9000) for _ in range(50)]
            await asyncio.gather(hello([bytes([b]) for b in b"Hello Server!\\0"], 0.02), hello([b"x" * 1000000, b"\\0"]),
                                 *[hello([b"Hello Server!\\0"]) for _ in range(50)])
            for _, writer in silent: writer.transport.abort()
            await hello([b"Hello Server!\\0"])
            print("answered")
        asyncio.run(main())
        """
}
