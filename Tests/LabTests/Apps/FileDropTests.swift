import Foundation
import Testing

@Suite("filedrop between two hosts", .serialized, .labSlot, .timeLimit(.minutes(20)))
struct FileDropTests {
    private let program = "filedrop"

    private func receive(_ lab: Lab, _ folder: TestFolder, _ arguments: String...) async throws -> LabProcess {
        let receiver = try lab.exec("h1", [AppBinary.path(program), "receive", "\(folder.path)/in"] + arguments)
        try await receiver.line { $0.hasPrefix("published ") }
        return receiver
    }

    private func port(_ process: LabProcess) throws -> String {
        String(try #require(process.lines().first?.split(separator: " ").last))
    }

    @Test(
        "files and folders arrive with their names, and are checked; a second time nothing is sent; no name is taken over"
    )
    func framed() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        let files = FileManager.default
        try files.createDirectory(atPath: "\(folder.path)/tree/sub/empty", withIntermediateDirectories: true)
        try folder.makeFile("tree/big", size: 20_000_000)
        try folder.makeFile("tree/sub/nothing", size: 0)
        try folder.makeFile("tree/sub/two words \u{FC}", size: 3)
        try files.createSymbolicLink(atPath: "\(folder.path)/tree/link", withDestinationPath: "/etc/passwd")
        try folder.makeFile("other", size: 1_000_000)
        let receiver = try await receive(lab, folder)

        let first = try await lab.askApp("h2", program, "send", "\(folder.path)/tree", "\(folder.path)/other")
        #expect(first.exit == .exited(0), "\(first.errors)")
        #expect(first.errors == ["filedrop: \(folder.path)/tree/link is neither a file nor a folder: left out"])
        #expect(
            folder.names("in") == ["other", "tree"] + folder.names("tree").filter { $0 != "link" }.map { "tree/\($0)" })
        for name in ["other", "tree/big", "tree/sub/nothing", "tree/sub/two words \u{FC}"] {
            #expect(folder.isSame(name, "in/\(name)"), "\(name)")
        }
        let second = try await lab.askApp("h2", program, "send", "\(folder.path)/tree", "--to", "Test")
        #expect(second.output.contains { $0.hasPrefix("sent tree/big") && $0.hasSuffix("(was there already)") })

        // Another file of the same name and size.
        try folder.makeFile("other", size: 1_000_000)
        #expect(try await lab.askApp("h2", program, "send", "\(folder.path)/other").exit == .exited(0))
        #expect(folder.isSame("other", "in/other (2)"))
        try await receiver.stop()
        try await lab.stop()
    }

    @Test("plain streams, as SimpleNetworkStreams has them: nc and asyncio send and receive, so do our own")
    func plain() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("file", size: 5_000_000)
        let receiver = try await receive(lab, folder)
        let nc = try await lab.bash("h2", "nc -N 10.77.0.1 \(port(receiver)) <\(folder.path)/file")
        #expect(nc.exit == .exited(0))
        try await receiver.line { $0.hasPrefix("received Test-") && $0.contains("  5000000 bytes") }
        let own = try await lab.askApp("h2", program, "send", "--plain", "\(folder.path)/file")
        #expect(own.exit == .exited(0))
        try await receiver.line { $0.hasPrefix("received Test-") }
        #expect(folder.names("in").count == 2)
        for name in folder.names("in") { #expect(folder.isSame("file", "in/\(name)")) }

        // The other way: a receiver of plain streams that is published by another program.
        let sink = try lab.python3("h1", Self.sink, "\(folder.path)/sunk")
        try await sink.line { $0 == "ready" }
        let other = try await lab.avahiPublish("h1", "Other", "_x-SNSUpload._tcp", "9300")
        let sent = try await lab.askApp("h2", program, "send", "--to", "Other", "\(folder.path)/file")
        #expect(sent.exit == .exited(0), "\(sent.errors)")
        #expect(try await sink.exit() == .exited(0))
        #expect(folder.isSame("file", "sunk"))
        let several = try await lab.askApp(
            "h2", program, "send", "--to", "Other", "\(folder.path)/file", "\(folder.path)/in")
        #expect(several.exit == .exited(64))
        let ambiguous = try await lab.askApp("h2", program, "send", "\(folder.path)/file")
        #expect(ambiguous.exit == .exited(64))
        #expect(ambiguous.errors.first?.contains(#""Other", "Test""#) == true)
        other.signal(SIGTERM)
        try await receiver.stop()
        try await lab.stop()
    }

    @Test("what is offered is fetched, by our own in both modes and by nc")
    func offered() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("film", size: 5_000_000)
        let offer = try lab.app("h1", program, "offer", "\(folder.path)/film", "--name", "anna")
        try await offer.line { $0.hasPrefix("published anna._x-SNSDownload._tcp.local port ") }
        #expect(try await lab.askApp("h2", program, "fetch", "anna", "\(folder.path)/a").exit == .exited(0))
        #expect(folder.isSame("film", "a/film"))
        #expect(try await lab.askApp("h2", program, "fetch", "anna", "\(folder.path)/b", "--plain").exit == .exited(0))
        let name = try #require(folder.names("b").first)
        #expect(name.hasPrefix("anna-") && folder.isSame("film", "b/\(name)"))
        let nc = try await lab.bash("h2", "nc 10.77.0.1 \(port(offer)) </dev/null >\(folder.path)/c")
        #expect(nc.exit == .exited(0))
        #expect(folder.isSame("film", "c"))
        #expect(try await lab.askApp("h2", program, "fetch", "bob", "\(folder.path)/d").exit == .exited(1))
        try await offer.stop()
        try await lab.stop()
    }

    @Test("a taken name is an error, never another name")
    func taken() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        let receiver = try await receive(lab, folder)
        let second = try await lab.askApp("h2", program, "receive", "\(folder.path)/second")
        #expect(second.exit == .exited(73))
        #expect(second.errors.first == "filedrop: error: the name Test is taken")
        #expect(second.output.isEmpty)
        #expect(try await lab.askApp("h2", program, "receive", "/proc/none").exit == .exited(73))
        #expect(try await lab.askApp("h2", program, "send", "\(folder.path)/none").exit == .exited(66))
        #expect(try await lab.askApp("h2", program, "send", "\(folder.path)", "--to", "Nobody").exit == .exited(1))
        try await receiver.stop()
        try await lab.stop()
    }

    @Test("a sender that is killed leaves no file; the next attempt goes on from there")
    func resume() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("file", size: 40_000_000)
        let receiver = try await receive(lab, folder)
        try await lab.run(
            "h2", "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "80mbit", "burst", "128kb", "latency",
            "50ms")
        let sender = try lab.app("h2", program, "send", "\(folder.path)/file", "--json")
        try await sender.line(within: .seconds(30)) { $0.contains(#""event":"progress""#) }
        sender.signal(SIGKILL)
        try await receiver.line(.stderr) { $0.contains("connection") }
        #expect(folder.names("in").allSatisfy { $0.hasPrefix(".filedrop-") } && folder.names("in").count == 1)
        try await lab.run("h2", "tc", "qdisc", "del", "dev", "eth0", "root")
        let again = try await lab.askApp("h2", program, "send", "\(folder.path)/file")
        #expect(again.exit == .exited(0), "\(again.errors)")
        #expect(again.output.first?.contains("(went on from byte ") == true)
        #expect(folder.names("in") == ["file"] && folder.isSame("file", "in/file"))
        try await receiver.stop()
        try await lab.stop()
    }

    @Test("a disk that is full: both sides say so, nothing is left, and the receiver goes on")
    func full() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("large", size: 20_000_000)
        try folder.makeFile("small", size: 1000)
        let script = """
            mkdir -p \(folder.path)/disk && mount -t tmpfs -o size=8m tmpfs \(folder.path)/disk
            exec \(AppBinary.path(program)) receive \(folder.path)/disk
            """
        let receiver = try lab.exec("h1", "/bin/bash", "-c", script)
        try await receiver.line { $0.hasPrefix("published ") }
        let sender = try await lab.askApp("h2", program, "send", "\(folder.path)/large")
        #expect(sender.exit == .exited(74))
        #expect(sender.errors.first?.contains("No space left on device") == true, "\(sender.errors)")
        try await receiver.line(.stderr) { $0.contains("No space left on device") }
        // A plain stream is as long as it is: it stops where the disk ends.
        _ = try await lab.bash("h2", "nc -N 10.77.0.1 \(port(receiver)) <\(folder.path)/large")
        try await receiver.line(.stderr) { $0.contains("No space left on device") }
        #expect(try await lab.askApp("h2", program, "send", "\(folder.path)/small").exit == .exited(0))
        let left = try await lab.bash("h1", "ls -A /proc/\(receiver.pid)/root/\(folder.path)/disk")
        #expect(left.output == ["small"], "\(left.errors)")
        try await receiver.stop()
        try await lab.stop()
    }

    @Test("a sender that breaks every rule gets nothing outside the folder, and nobody is held up")
    func hostile() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        let receiver = try await receive(lab, folder)
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/in/way", withDestinationPath: folder.path)
        let browse = try await lab.ask("h2", "resolve", "Test", "_x-SNSUpload._tcp", "--json")
        let framed = try #require(try browse.services().first?.txt?["port"] ?? nil)
        guard case .text(let framedPort) = framed else { return }
        let evil = try lab.python3("h2", Self.evil, framedPort, try port(receiver))
        #expect(try await evil.exit(within: .seconds(60)) == .exited(0), "\(evil.lines(.stderr))")
        #expect(evil.lines().last == "done")
        // What broke off is gone, or waits under a name of its own; nothing is outside.
        #expect(folder.names().filter { !$0.hasPrefix("in/") } == ["in"])
        let kept = folder.names("in").filter { !$0.contains(".filedrop-") && $0 != "way" }
        #expect(kept == ["e\u{1B}[2J", "ok"], "\(kept)")
        #expect(!receiver.lines().joined().utf8.contains(0x1B))
        #expect(!receiver.lines(.stderr).joined().utf8.contains(0x1B))
        try folder.makeFile("good", size: 1000)
        #expect(try await lab.askApp("h2", program, "send", "\(folder.path)/good").exit == .exited(0))
        try await receiver.stop()
        try await lab.stop()
    }

    private static let sink = """
        import asyncio, sys
        async def main():
            done = asyncio.Event()
            async def take(reader, writer):
                with open(sys.argv[1], "wb") as file:
                    while data := await reader.read(32768): file.write(data)
                writer.close(); done.set()
            await asyncio.start_server(take, "0.0.0.0", 9300)
            print("ready"); await done.wait()
        asyncio.run(main())
        """

    private static let evil = """
        import hashlib, socket, struct, sys
        framed, plain = int(sys.argv[1]), int(sys.argv[2])
        def connect(port): return socket.create_connection(("10.77.0.1", port), timeout=20)
        def message(kind, body=b""): return kind + struct.pack(">I", len(body)) + body
        def entry(path, size=5, kind=0): return message(b"E", struct.pack(">BBqq", kind, 0, size, 0) + path)
        def rest(s):
            data = b""
            try:
                while more := s.recv(65536): data += more
            except ConnectionResetError: pass
            return data
        def attempt(*messages, greeting=b"filedrop/1\\n"):
            s = connect(framed)
            try:
                s.sendall(greeting + b"".join(messages)); s.shutdown(socket.SHUT_WR)
            except (BrokenPipeError, ConnectionResetError): pass
            return rest(s)
        data = message(b"D", b"hello")
        digest = message(b"S", hashlib.sha256(b"hello").digest())
        start = message(b"F", struct.pack(">q", 0))
        for path in (b"../x", b"/tmp/x", b"a/../../x", b"", b"a\\0b", b".bashrc", b"x" * 300, b"way/x", b"a//b", b"way/../x"):
            answer = attempt(entry(path), start, data, digest)
            assert b"C\\0\\0\\0\\0" not in answer, (path, answer)
        assert b"C\\0\\0\\0\\0" not in attempt(entry(b"way/sub", 0, 1))
        for bad in (message(b"?"), b"E\\xff\\xff\\xff\\xff", message(b"T", b"x"), entry(b"n", -1), entry(b"n", 1 << 62), digest, data):
            attempt(bad)
        attempt(greeting=b"GET / HTTP/1.1\\r\\n\\r\\n")
        wrong = message(b"S", b"0" * 32)
        assert b"C\\0\\0\\0\\0" not in attempt(entry(b"wrong"), start, data, wrong)
        assert b"C\\0\\0\\0\\0" not in attempt(entry(b"more"), start, data, data, digest)
        attempt(entry(b"half", 500000), start, data)
        # Silent ones, and more than there are places.
        idle = [connect(port) for port in [framed, plain] * 6]
        # A plain stream that is reset is no file.
        s = connect(plain); s.sendall(b"x" * 100000)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); s.close()
        for name in (b"ok", b"e\\x1b[2J"):
            assert b"C\\0\\0\\0\\0" in attempt(entry(name), start, data, digest, message(b"Z")), name
        for s in idle: s.close()
        print("done")
        """
}
