import Foundation
import Testing

@Suite("filedrop between two hosts", .labSlot)
struct FileDropTests {
    private let program = "filedrop"

    /// Receives into the folder `in`; the receiver's memory is in the test's folder too.
    private func receive(
        _ lab: Lab, _ folder: TestFolder, _ arguments: String..., host: String = "h1"
    ) async throws -> LabProcess {
        let trust = arguments.contains("--plain") ? [] : ["--trust-first"]
        let receiver = try lab.exec(
            host, [Built.program(program), "receive", "\(folder.path)/in"] + arguments + trust,
            environment: ["XDG_STATE_HOME": "\(folder.path)/state/receiver"])
        try await receiver.line { $0.hasPrefix("published ") }
        return receiver
    }

    /// Runs a sender to its end.
    private func send(
        _ lab: Lab, _ folder: TestFolder, _ arguments: String..., user: String = "sender"
    ) async throws -> Lab.Run {
        let command = [
            "/usr/bin/env", "XDG_STATE_HOME=\(folder.path)/state/\(user)", Built.program(program), "send",
        ]
        let trust = arguments.contains("--plain") ? [] : ["--trust-first"]
        return try await lab.toEnd("h2", command + arguments + trust, within: .seconds(60))
    }

    /// The port of the framed mode, from the service's TXT record.
    private func framedPort(_ lab: Lab, _ name: String) async throws -> String {
        let resolved = try await lab.ask("h2", "resolve", name, "_x-SNSUpload._tcp", "--json")
        guard case .text(let port) = try #require(try resolved.services().first?.txt?["port"] ?? nil) else {
            throw CancellationError()
        }
        return port
    }

    private func port(_ process: LabProcess) throws -> String {
        String(try #require(process.lines().first?.split(separator: " ").last))
    }

    @Test(
        "files and folders arrive with their names, and are checked; a second time nothing is sent; it is said from whom"
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
        #expect(receiver.lines().first?.hasPrefix("published h1._x-SNSUpload._tcp.local port ") == true)

        let first = try await send(lab, folder, "\(folder.path)/tree", "\(folder.path)/other")
        #expect(first.exit == .exited(0), "\(first.errors)")
        #expect(first.errors == ["filedrop: \(folder.path)/tree/link is neither a file nor a folder: left out"])
        #expect(
            folder.names("in") == ["other", "tree"] + folder.names("tree").filter { $0 != "link" }.map { "tree/\($0)" })
        for name in ["other", "tree/big", "tree/sub/nothing", "tree/sub/two words \u{FC}"] {
            #expect(folder.isSame(name, "in/\(name)"), "\(name)")
        }
        try await receiver.line { $0.hasPrefix("received tree/big") && $0.contains("  from h2 (") }
        let second = try await send(lab, folder, "\(folder.path)/tree", "--to", "h1")
        #expect(second.output.contains { $0.hasPrefix("sent tree/big") && $0.hasSuffix("(was there already)") })
        // The same folder name from another sender makes another folder.
        #expect(try await send(lab, folder, "\(folder.path)/tree", user: "other").exit == .exited(0))
        #expect(folder.isSame("tree/big", "in/tree (2)/big"))

        // A different file of the same name and size.
        try folder.makeFile("other", size: 1_000_000)
        #expect(try await send(lab, folder, "\(folder.path)/other").exit == .exited(0))
        #expect(folder.isSame("other", "in/other (2)"))
        try await receiver.stop()
        try await lab.stop()
    }

    @Test("nothing that is run comes into a folder that was there: no hooks, no programs, no settings", .onlyInAll)
    func planted() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        let files = FileManager.default
        for path in ["in/proj/.git/hooks", "proj/.git/hooks", "proj/bin"] {
            try files.createDirectory(atPath: "\(folder.path)/\(path)", withIntermediateDirectories: true)
        }
        for name in ["proj/.git/hooks/post-commit", "proj/bin/ls", "proj/.bashrc", "proj/Makefile"] {
            try folder.makeFile(name, size: 10)
            #expect(chmod("\(folder.path)/\(name)", 0o755) == 0)
        }
        let receiver = try await receive(lab, folder)
        let sent = try await send(lab, folder, "\(folder.path)/proj")
        #expect(sent.exit == .exited(0))
        let leftOut = "has a name that begins with a dot: left out"
        #expect(sent.errors.sorted() == [".bashrc", ".git"].map { "filedrop: \(folder.path)/proj/\($0) \(leftOut)" })
        #expect(folder.names("in/proj") == [".git", ".git/hooks"])
        #expect(folder.names("in/proj (2)") == ["Makefile", "bin", "bin/ls"])
        for name in ["bin/ls", "Makefile"] {
            let attributes = try files.attributesOfItem(atPath: "\(folder.path)/in/proj (2)/\(name)")
            let mode = try #require(attributes[.posixPermissions] as? Int)
            #expect(mode & 0o111 == 0, "\(name)")
        }
        try await receiver.stop()
        let willing = try await receive(lab, folder, "--executable")
        #expect(try await send(lab, folder, "\(folder.path)/proj", user: "other").exit == .exited(0))
        let attributes = try files.attributesOfItem(atPath: "\(folder.path)/in/proj (3)/bin/ls")
        #expect(try #require(attributes[.posixPermissions] as? Int) & 0o100 != 0)
        try await willing.stop()
        try await lab.stop()
    }

    @Test(
        "connections that end early, 1000 in each mode: the receiver lives, serves, and does not fill its log",
        .onlyInAll)
    func earlyEnds() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        let receiver = try await receive(lab, folder)
        let hello = try lab.python3("h2", Self.clientHello)
        let words = try await hello.line { !$0.isEmpty }.split(separator: " ").compactMap { UInt8($0, radix: 16) }
        let requests = [words, words + words, Array("filedrop/2\n".utf8)]
        try await lab.endEarly("h2", "10.77.0.1:\(try await framedPort(lab, "h1"))", requests: requests)
        #expect(folder.names("in").isEmpty)
        try await lab.endEarly("h2", "10.77.0.1:\(port(receiver))", requests: [[UInt8](repeating: 7, count: 3000)])
        #expect(receiver.lines(.stderr).count <= 60, "\(receiver.lines(.stderr).count)")
        try folder.makeFile("good", size: 1000)
        #expect(try await send(lab, folder, "\(folder.path)/good").exit == .exited(0))
        #expect(folder.isSame("good", "in/good"))
        try await receiver.stop()
        try await lab.stop()
    }

    @Test("an older filedrop is refused on both sides", .onlyInAll)
    func older() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("file", size: 1000)
        let receiver = try await receive(lab, folder)
        let old = try lab.python3("h2", Self.oldSender, try await framedPort(lab, "h1"))
        #expect(try await old.exit() == .exited(0), "\(old.lines(.stderr))")
        try await receiver.line(.stderr) { $0.contains("it speaks no TLS") }
        #expect(folder.names("in").isEmpty)
        let publisher = try await lab.avahiPublish("h1", "Old", "_x-SNSUpload._tcp", "9300", "filedrop=2", "port=9301")
        let sent = try await send(lab, folder, "\(folder.path)/file", "--to", "Old")
        #expect(sent.exit == .exited(65))
        #expect(
            sent.errors.first == #"filedrop: error: "Old" speaks another version of filedrop than this one, which is 3"#
        )
        publisher.signal(SIGTERM)
        try await receiver.stop()
        try await lab.stop()
    }

    @Test("plain streams, as SimpleNetworkStreams has them: nc and asyncio send and receive, so do our own", .onlyInAll)
    func plain() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("file", size: 5_000_000)
        let receiver = try await receive(lab, folder, "--plain")
        #expect(receiver.lines().first?.hasPrefix("published Test._x-SNSUpload._tcp.local port ") == true)
        let nc = try await lab.bash("h2", "nc -N 10.77.0.1 \(port(receiver)) <\(folder.path)/file")
        #expect(nc.exit == .exited(0))
        try await receiver.line { $0.hasPrefix("received Test-") && $0.contains("  5000000 bytes") }
        let own = try await send(lab, folder, "--plain", "\(folder.path)/file")
        #expect(own.exit == .exited(0))
        try await receiver.line { $0.hasPrefix("received Test-") && $0.contains("  from ") }
        #expect(folder.names("in").count == 2)
        for name in folder.names("in") { #expect(folder.isSame("file", "in/\(name)")) }

        // The other direction: another program publishes a receiver of plain streams.
        let sink = try lab.python3("h1", Self.sink, "\(folder.path)/sunk")
        try await sink.line { $0 == "ready" }
        let other = try await lab.avahiPublish("h1", "Other", "_x-SNSUpload._tcp", "9300")
        let secured = try await send(lab, folder, "--to", "Other", "\(folder.path)/file")
        #expect(secured.exit == .exited(76) && secured.failure?.contains("speaks no TLS") == true, "\(secured)")
        let sent = try await send(lab, folder, "--plain", "--to", "Other", "\(folder.path)/file")
        #expect(sent.exit == .exited(0), "\(sent.errors)")
        #expect(try await sink.exit() == .exited(0))
        #expect(folder.isSame("file", "sunk"))
        let several = try await send(
            lab, folder, "--plain", "--to", "Other", "\(folder.path)/file", "\(folder.path)/in")
        #expect(several.exit == .exited(64))
        let ambiguous = try await send(lab, folder, "\(folder.path)/file")
        #expect(ambiguous.exit == .exited(64))
        #expect(ambiguous.errors.first?.contains(#""Other", "Test""#) == true)
        other.signal(SIGTERM)
        try await receiver.stop()
        try await lab.stop()
    }

    @Test(
        "with two offers, a person at a terminal chooses one from a list; leaving the list fetches nothing", .onlyInAll)
    func chosen() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("film", size: 5000)
        var offers: [LabProcess] = []
        for name in ["anna", "bob"] {
            offers.append(try lab.app("h1", program, "offer", "\(folder.path)/film", "--name", name, "--trust-first"))
            try await offers.last?.line { $0.hasPrefix("published \(name)") }
        }
        let screen = try await TerminalScreen(lab, "h2")
        let before = try await screen.settings()
        try await screen.run("\(Built.program(program)) fetch --trust-first \(folder.path)/in; echo status $?")
        try await screen.shows("the list") { lines in
            lines.contains { $0.contains(" anna  on h1.local  1 file, 5.0 kB") }
                && lines.contains { $0.contains(" bob  on h1.local") }
        }
        try await screen.press("q")
        try await screen.shows("status 1")
        try await screen.run("clear; \(Built.program(program)) fetch --trust-first \(folder.path)/in; echo status $?")
        try await screen.shows("the list again") { lines in
            [" anna", " bob"].allSatisfy { name in lines.contains { $0.contains(name) } }
        }
        // The selection stays on the first service found; bob is last in the list.
        try await screen.press("Down")
        try await screen.shows("> bob")
        try await screen.press("Enter")
        try await screen.shows("status 0")
        #expect(folder.isSame("film", "in/film"))
        #expect(try await screen.settings() == before)
        try await screen.close()
        for offer in offers { try await offer.stop() }
        try await lab.stop()
    }

    @Test("offered files can be fetched; with --plain by nc, too, and without it by filedrop alone", .onlyInAll)
    func offered() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("film", size: 5_000_000)
        let secured = try lab.app("h1", program, "offer", "\(folder.path)/film", "--name", "anna", "--trust-first")
        try await secured.line { $0.hasPrefix("published anna._x-SNSDownload._tcp.local port ") }
        let fetched = try await lab.askApp("h2", program, "fetch", "anna", "\(folder.path)/a", "--trust-first")
        #expect(fetched.exit == .exited(0), "\(fetched)")
        #expect(folder.isSame("film", "a/film"))
        let refused = try await lab.bash("h2", "nc 10.77.0.1 \(port(secured)) </dev/null")
        #expect(refused.output.isEmpty)
        try await secured.line(.stderr) { $0.contains("a plain stream was refused") }
        let plainly = try await lab.askApp("h2", program, "fetch", "anna", "\(folder.path)/d", "--plain")
        #expect(plainly.exit == .exited(76) && folder.names("d").isEmpty, "\(plainly)")
        try await secured.stop()
        let offer = try lab.app("h1", program, "offer", "\(folder.path)/film", "--name", "anna", "--plain")
        try await offer.line { $0.hasPrefix("published anna._x-SNSDownload._tcp.local port ") }
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

    @Test("two machines receive, each under its own name; the fixed name of plain streams stays an error", .onlyInAll)
    func taken() async throws {
        let lab = try await Lab.start(hosts: 3)
        let folder = try TestFolder()
        let receiver = try await receive(lab, folder, "--name", "anna")
        let second = try await receive(lab, folder, "--name", "anna", host: "h3")
        let line = try #require(second.lines().first)
        #expect(line.hasPrefix("published anna") && !line.hasPrefix("published anna."), "\(line)")
        try folder.makeFile("file", size: 1000)
        let ambiguous = try await send(lab, folder, "\(folder.path)/file")
        #expect(ambiguous.exit == .exited(64))
        #expect(
            ambiguous.errors.first?.contains(#"there are several, and none was named: "anna", "anna"#) == true,
            "\(ambiguous.errors)")
        try await second.stop()

        // A single record from another host takes the name away; the receiver continues under another.
        let thief = try await lab.inject(
            "h3", #"{"services":[{"instance":"anna","type":"_x-SNSUpload._tcp","port":9,"host":"h9"}]}"#)
        try await receiver.line(.stderr) { $0.contains("another machine has the name anna") }
        let renamed = try await receiver.line { $0.hasPrefix("published anna") && !$0.hasPrefix("published anna.") }
        thief.signal(SIGTERM)
        let name = String(renamed.dropFirst("published ".count).prefix { $0 != "." })
        let sent = try await send(lab, folder, "\(folder.path)/file", "--to", name)
        #expect(sent.exit == .exited(0), "\(sent.errors)")
        try await receiver.stop()

        let plain = try await receive(lab, folder, "--plain")
        let other = try await lab.askApp("h2", program, "receive", "\(folder.path)/second", "--plain")
        #expect(other.exit == .exited(73))
        #expect(other.errors.first == "filedrop: error: the name Test is taken")
        #expect(other.output.isEmpty)
        try await plain.stop()
        #expect(try await lab.askApp("h2", program, "receive", "/proc/none").exit == .exited(73))
        #expect(try await send(lab, folder, "\(folder.path)/none").exit == .exited(66))
        #expect(try await send(lab, folder, "\(folder.path)/file", "--to", "Nobody").exit == .exited(1))
        try await lab.stop()
    }

    @Test("Ctrl-C while sending says how to go on", .onlyInAll)
    func interrupted() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("file", size: 40_000_000)
        let receiver = try await receive(lab, folder)
        try await slow(lab)
        let sender = try lab.app("h2", program, "send", "\(folder.path)/file", "--json", "--trust-first")
        try await sender.line(within: .seconds(30)) { $0.contains(#""event":"progress""#) }
        sender.signal(SIGINT)
        #expect(try await sender.exit() == .exited(1))
        #expect(sender.lines(.stderr) == ["filedrop: stopped; run it again to go on"])
        try await receiver.stop()
        try await lab.stop()
    }

    private func slow(_ lab: Lab) async throws {
        try await lab.run(
            "h2", "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "80mbit", "burst", "128kb", "latency",
            "50ms")
    }

    @Test("a sender that is killed leaves no file; the next attempt goes on from there, in the same folder", .onlyInAll)
    func resume() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("file", size: 40_000_000)
        let receiver = try await receive(lab, folder)
        try await slow(lab)
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/tree", withIntermediateDirectories: false)
        try FileManager.default.moveItem(atPath: "\(folder.path)/file", toPath: "\(folder.path)/tree/file")
        let environment = ["XDG_STATE_HOME": "\(folder.path)/state/sender"]
        let sender = try lab.exec(
            "h2", [Built.program(program), "send", "\(folder.path)/tree", "--json", "--trust-first"],
            environment: environment)
        try await sender.line(within: .seconds(30)) { $0.contains(#""event":"progress""#) }
        sender.signal(SIGKILL)
        try await receiver.line(.stderr) { $0.contains("connection") }
        let kept = folder.names("in/tree")
        #expect(kept.count == 1 && kept.allSatisfy { $0.hasPrefix(".filedrop-") }, "\(kept)")
        try await lab.run("h2", "tc", "qdisc", "del", "dev", "eth0", "root")
        let again = try await send(lab, folder, "\(folder.path)/tree")
        #expect(again.exit == .exited(0), "\(again.errors)")
        #expect(again.output.first?.contains("(went on from byte ") == true)
        #expect(folder.names("in") == ["tree", "tree/file"] && folder.isSame("tree/file", "in/tree/file"))
        try await receiver.stop()
        try await lab.stop()
    }

    @Test("a disk that is full: both sides say so, nothing is left, and the receiver goes on", .onlyInAll)
    func full() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("large", size: 20_000_000)
        try folder.makeFile("small", size: 1000)
        let script = """
            mkdir -p \(folder.path)/disk && mount -t tmpfs -o size=8m tmpfs \(folder.path)/disk
            exec \(Built.program(program)) receive \(folder.path)/disk
            """
        let receiver = try lab.exec("h1", "/bin/bash", "-c", script + " --trust-first")
        try await receiver.line { $0.hasPrefix("published ") }
        let sender = try await send(lab, folder, "\(folder.path)/large")
        #expect(sender.exit == .exited(74))
        #expect(sender.errors.first?.contains("No space left on device") == true, "\(sender.errors)")
        try await receiver.line(.stderr) { $0.contains("No space left on device") }
        let told = try await lab.bash("h2", "nc -N 10.77.0.1 \(port(receiver)) <\(folder.path)/small")
        #expect(told.output.first?.contains("no plain streams here") == true, "\(told)")
        #expect(try await send(lab, folder, "\(folder.path)/small").exit == .exited(0))
        let left = try await lab.bash("h1", "ls -A /proc/\(receiver.pid)/root/\(folder.path)/disk")
        #expect(left.output == ["small"], "\(left.errors)")
        try await receiver.stop()
        // A plain stream does not announce its length: it stops where the disk is full.
        let plain = try lab.exec("h1", "/bin/bash", "-c", script + " --plain")
        try await plain.line { $0.hasPrefix("published ") }
        _ = try await lab.bash("h2", "nc -N 10.77.0.1 \(port(plain)) <\(folder.path)/large")
        try await plain.line(.stderr) { $0.contains("No space left on device") }
        #expect(try await lab.bash("h1", "ls -A /proc/\(plain.pid)/root/\(folder.path)/disk").output.isEmpty)
        try await plain.stop()
        try await lab.stop()
    }

    @Test("a sender that breaks every rule puts nothing outside the folder, and delays no one", .onlyInAll)
    func hostile() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        let receiver = try await receive(lab, folder)
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/in/way", withDestinationPath: folder.path)
        try Data("pin=4711\n".utf8).write(to: URL(filePath: "\(folder.path)/in/secret.txt"))
        let peer = "\(Lab.python) \(Lab.scripts)/tls_peer.py"
        #expect(try await lab.bash("h2", "mkdir /var/lib/evil && \(peer) make /var/lib/evil evil").exit == .exited(0))
        let evil = try lab.python3("h2", Self.evil, try await framedPort(lab, "h1"), try port(receiver))
        #expect(try await evil.exit(within: .seconds(60)) == .exited(0), "\(evil.lines(.stderr))")
        #expect(evil.lines().last == "done")
        // Interrupted transfers are gone, or wait under a name of their own; nothing is outside the folder.
        #expect(folder.names().filter { !$0.hasPrefix("in/") && !$0.hasPrefix("state") } == ["in"])
        #expect(!folder.names("in").contains { $0.contains(".filedrop-") })
        let kept = folder.names("in").filter { !$0.hasPrefix("way") }
        #expect(kept == ["ok", "program", "secret (2).txt", "secret.txt"], "\(kept)")
        #expect(
            folder.names("in").filter { $0.hasPrefix("way") } == [
                "way", "way (2)", "way (2)/sub", "way (2)/x",
            ])
        let mode = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/in/program")[.posixPermissions]
        #expect(try #require(mode as? Int) & 0o111 == 0)
        #expect(!receiver.lines().joined().utf8.contains(0x1B))
        #expect(!receiver.lines(.stderr).joined().utf8.contains(0x1B))
        try folder.makeFile("good", size: 1000)
        #expect(try await send(lab, folder, "\(folder.path)/good").exit == .exited(0))
        try await receiver.stop()
        try await lab.stop()
    }

    private static let oldSender = """
        import socket, sys
        s = socket.create_connection(("10.77.0.1", int(sys.argv[1])), timeout=20)
        s.sendall(b"filedrop/2\\n")
        data = b""
        try:
            while more := s.recv(65536): data += more
        except ConnectionResetError: pass
        assert b"filedrop" not in data, data
        """

    /// The first words of a TLS client.
    private static let clientHello = """
        import ssl
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        heard, said = ssl.MemoryBIO(), ssl.MemoryBIO()
        try: context.wrap_bio(heard, said).do_handshake()
        except ssl.SSLWantReadError: pass
        print(said.read().hex(" "))
        """

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
        import hashlib, socket, ssl, struct, sys
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.load_cert_chain("/var/lib/evil/cert.pem", "/var/lib/evil/key.pem")
        class Link:
            \"\"\"TLS that can end its own side and go on listening.\"\"\"
            def __init__(self, socket):
                self.socket, self.heard, self.said = socket, ssl.MemoryBIO(), ssl.MemoryBIO()
                self.tls = context.wrap_bio(self.heard, self.said)
                self.pump(self.tls.do_handshake)
            def pump(self, step):
                while True:
                    try: result = step()
                    except ssl.SSLWantReadError: result = None
                    else: break
                    finally:
                        if words := self.said.read(): self.socket.sendall(words)
                    more = self.socket.recv(65536)
                    if more: self.heard.write(more)
                    else: return b""
                return result
            def sendall(self, data):
                self.tls.write(data)
                self.socket.sendall(self.said.read())
            def end(self):
                try: self.tls.unwrap()
                except ssl.SSLError: pass
                self.socket.sendall(self.said.read())
            def recv(self, count):
                try: return self.pump(lambda: self.tls.read(count))
                except (ssl.SSLZeroReturnError, ssl.SSLEOFError): return b""
        framed, plain = int(sys.argv[1]), int(sys.argv[2])
        def connect(port): return socket.create_connection(("10.77.0.1", port), timeout=20)
        def message(kind, body=b""): return kind + struct.pack(">I", len(body)) + body
        def entry(path, size=5, kind=0, mode=0):
            return message(b"E", struct.pack(">BBqq", kind, mode, size, 0) + b"o" * 16 + path)
        def rest(s):
            data = b""
            try:
                while more := s.recv(65536): data += more
            except ConnectionResetError: pass
            return data
        who = message(b"K", b"\\1") + message(b"T", struct.pack(">qq", 9, 9))
        def attempt(*messages, greeting=b"filedrop/3\\n" + who):
            s = Link(connect(framed))
            try:
                s.sendall(greeting + b"".join(messages)); s.end()
            except (BrokenPipeError, ConnectionResetError): pass
            return rest(s)
        data = message(b"D", b"hello")
        digest = message(b"S", hashlib.sha256(b"hello").digest())
        complete, end = b"C\\0\\0\\0\\0", message(b"Z")
        for path in (b"../x", b"/tmp/x", b"a/../../x", b"a\\0b", b".bashrc", b"x" * 300, b"a//b", b"way/../x", b"\\xff",
            b"a/.git/hooks/post-commit", b"a/.filedrop-x.part", b"e\\x1b[2J", b"a\\nb", b"-rf", b"\\xc2\\x9b31m", b"\\xe2\\x80\\xaeb"):
            # It is left out, and the rest goes on.
            answer = attempt(entry(path), end)
            assert complete not in answer and b"L\\0\\0\\0" in answer and answer.endswith(end), (path, answer)
        assert complete not in attempt(entry(b""))
        # A link to elsewhere is not entered.
        assert complete in attempt(entry(b"way/x"), data, digest, end)
        assert complete in attempt(entry(b"way/sub", 0, 1), end)
        # Nothing is said of what is there: not that it is, and no digest.
        answer = attempt(entry(b"secret.txt", 9), message(b"D", b"pin=0000\\n"), message(b"S", hashlib.sha256(b"pin=0000\\n").digest()), end)
        assert b"H\\0\\0\\0\\x08" + b"\\0" * 8 in answer, answer
        assert hashlib.sha256(b"pin=4711\\n").digest() not in answer
        assert complete in attempt(entry(b"program", 5, 0, 1), data, digest, end)
        for bad in (message(b"?"), b"E\\xff\\xff\\xff\\xff", message(b"T", b"x"), entry(b"n", -1), entry(b"n", 1 << 62), digest, data):
            attempt(bad)
        attempt(greeting=b"GET / HTTP/1.1\\r\\n\\r\\n")
        attempt(entry(b"n"), greeting=b"filedrop/3\\n")
        attempt(entry(b"n"), data, digest, end, greeting=b"filedrop/3\\n" + message(b"K", b"\\1"))
        attempt(message(b"P", b"x" * 64), greeting=b"filedrop/3\\n" + message(b"K", b"\\0"))
        attempt(message(b"P", b"x" * 65), greeting=b"filedrop/3\\n" + message(b"K", b"\\0"))
        wrong = message(b"S", b"0" * 32)
        assert complete not in attempt(entry(b"wrong"), data, wrong)
        assert complete not in attempt(entry(b"more"), data, data, digest)
        attempt(entry(b"half", 500000), data)
        # Silent ones, and more than there are places.
        idle = [connect(port) for port in [framed, plain] * 6]
        # A plain stream is no file.
        s = connect(plain); s.sendall(b"x" * 100000)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); s.close()
        assert complete in attempt(entry(b"ok"), data, digest, end)
        for s in idle: s.close()
        print("done")
        """
}
