import Foundation
import Testing

/// filedrop's TLS: who gets files, who may send them, and what others on the network see of it.
@Suite("filedrop between machines that know each other", .labSlot)
struct FileDropIdentityTests {
    private static let name = "anna._x-SNSUpload._tcp.local"

    private func receive(
        _ lab: Lab, _ host: String, _ folder: TestFolder, _ into: String, _ options: String...
    ) async throws -> LabProcess {
        let command = [Built.program("filedrop"), "receive", "\(folder.path)/\(into)", "--name", "anna"]
        let receiver = try lab.exec(
            host, command + options, environment: ["XDG_STATE_HOME": "\(folder.path)/state-\(host)"])
        try await receiver.line { $0.hasPrefix("published anna") }
        return receiver
    }

    /// Without a terminal.
    private func send(
        _ lab: Lab, _ folder: TestFolder, _ file: String, _ options: String = "", host: String = "h2"
    ) async throws -> Lab.Run {
        try await lab.bash(
            host,
            "XDG_STATE_HOME=\(folder.path)/state-\(host) setsid -w \(Built.program("filedrop")) send \(folder.path)/\(file) \(options)",
            within: .seconds(40))
    }

    private func key(_ lab: Lab, _ host: String) async throws -> String {
        let identity = try await lab.ask(host, "identity")
        return try #require(identity.output.first?.split(separator: "\t").first.map(String.init), "\(identity)")
    }

    @Test(
        "another machine under the receiver's name gets no byte, ten times of ten; the receiver goes on, renamed",
        .onlyInAll)
    func impostor() async throws {
        let lab = try await Lab.start(hosts: 3)
        let folder = try TestFolder()
        try folder.makeFile("secret", size: 1000)
        let receiver = try await receive(lab, "h1", folder, "in", "--trust-first")
        let first = try await send(lab, folder, "secret", "--to anna --trust-first")
        #expect(first.exit == .exited(0), "\(first)")
        let thief = try await lab.inject(
            "h3", #"{"services":[{"instance":"anna","type":"_x-SNSUpload._tcp","port":9,"host":"h9"}]}"#)
        try await receiver.line(.stderr) { $0.contains("another machine has the name anna") }
        let renamed = try await receiver.line { $0.hasPrefix("published anna") && !$0.hasPrefix("published anna.") }
        thief.signal(SIGTERM)
        _ = try await thief.exit()
        let hostile = try await receive(lab, "h3", folder, "stolen", "--trust-first")
        try #require(hostile.lines().first?.hasPrefix("published anna.") == true, "\(hostile.lines())")
        for attempt in 0..<10 {
            let refused = try await send(lab, folder, "secret", "--to anna \(attempt % 2 == 0 ? "--trust-first" : "")")
            #expect(refused.exit == .exited(77), "\(refused)")
            #expect(refused.failure?.hasSuffix("THE KEY OF \(Self.name) HAS CHANGED") == true, "\(refused)")
            #expect(refused.errors.first?.contains("announces another key than the one that is known") == true)
        }
        #expect(folder.names("stolen").isEmpty)
        try await hostile.stop()
        let name = String(renamed.dropFirst("published ".count).prefix { $0 != "." })
        try folder.makeFile("more", size: 1000)
        let again = try await send(lab, folder, "more", "--to '\(name)' --trust-first")
        #expect(again.exit == .exited(0) && folder.isSame("more", "in/more"), "\(again)")
        try await receiver.stop()
        try await lab.stop()
    }

    @Test("strangers are refused on either side where no one can be asked; whose key was added may send always")
    func strangers() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try folder.makeFile("file", size: 1000)
        let receiver = try await receive(lab, "h1", folder, "in")
        let (one, two) = (try await key(lab, "h1"), try await key(lab, "h2"))
        let unknown = try await send(lab, folder, "file")
        #expect(unknown.exit == .exited(77), "\(unknown)")
        #expect(unknown.errors.contains { $0.hasSuffix("discoverd key add '\(Self.name)' \(one)") }, "\(unknown)")
        try await lab.run("h2", Built.discoverd, "known", "add", Self.name, one)
        let refused = try await send(lab, folder, "file")
        #expect(refused.exit == .exited(77), "\(refused)")
        #expect(refused.failure?.contains("this machine's key is not known there") == true, "\(refused)")
        try await receiver.line(.stderr) { $0.contains("the key of @h2 is not known: \(two)") }
        #expect(folder.names("in").isEmpty)
        try await lab.run("h1", Built.discoverd, "known", "add", "@h2", two)
        let sent = try await send(lab, folder, "file")
        #expect(sent.exit == .exited(0) && folder.isSame("file", "in/file"), "\(sent)")
        let pinned = try await send(lab, folder, "file", "--pin \(two)")
        #expect(pinned.exit == .exited(77), "\(pinned)")
        try await receiver.stop()
        // What --trust-first learns counts for files alone.
        try await lab.run("h1", Built.discoverd, "known", "forget", "@h2")
        let open = try await receive(lab, "h1", folder, "in", "--trust-first")
        #expect(try await send(lab, folder, "file").exit == .exited(0))
        #expect(try await lab.ask("h1", "known").output.isEmpty)
        let noted = try await lab.bash("h1", "cat /var/lib/discoverd-root/filedrop_senders")
        #expect(noted.output == ["# discoverd format 1", "@h2 \(two)"], "\(noted)")
        try await open.stop()
        try await lab.stop()
    }

    @Test("whose key is known under a name of its own does not come under another's", .onlyInAll)
    func borrowedName() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        let peer = "\(Lab.python) \(Lab.scripts)/tls_peer.py"
        let made = try await lab.bash("h2", "mkdir /var/lib/p && \(peer) make /var/lib/p boss")
        let borrowed = try #require(made.output.first, "\(made)")
        let other = try await key(lab, "h2")
        try await lab.run("h1", Built.discoverd, "known", "add", "@h2", borrowed)
        let senders = "/var/lib/discoverd-root/filedrop_senders"
        let noted = try await lab.bash("h1", "umask 077; echo '@boss \(other)' >\(senders)")
        #expect(noted.exit == .exited(0), "\(noted)")
        let receiver = try await receive(lab, "h1", folder, "in")
        let resolved = try await lab.ask("h2", "resolve", "anna", "_x-SNSUpload._tcp", "--json")
        guard case .text(let port) = try #require(try resolved.services().first?.txt?["port"] ?? nil) else { return }
        _ = try await lab.bash(
            "h2", "\(Lab.python) \(Lab.scripts)/filedrop_peer.py call 10.77.0.1 \(port) /var/lib/p",
            within: .seconds(60))
        try await receiver.line(.stderr) { $0.contains("THE KEY OF @boss HAS CHANGED: it is \(borrowed) now") }
        #expect(folder.names("in").isEmpty)
        try await receiver.stop()
        try await lab.stop()
    }

    @Test("older TLS, an expired certificate, no TLS, a record that says nothing of it: no byte of a file", .onlyInAll)
    func downgraded() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        try Data("very-secret-content".utf8).write(to: URL(filePath: "\(folder.path)/very-secret-name"))
        let peer = "\(Lab.python) \(Lab.scripts)/tls_peer.py"
        let made = try await lab.bash("h1", "mkdir /var/lib/p && \(peer) make /var/lib/p anna 210101000000Z")
        let key = try #require(made.output.first, "\(made)")
        let files = "-cert /var/lib/p/cert.pem -key /var/lib/p/key.pem"
        let servers = [
            ("openssl s_server -accept 9000 \(files) -tls1_2 -quiet", 76, "an older TLS"),
            ("exec \(peer) answer 9000 /var/lib/p", 77, "has expired"),
            ("nc -lk 9000", 76, "it speaks no TLS"),
        ]
        for (server, status, reason) in servers {
            // Neither tls= nor fp=: someone has taken them out.
            let service = try await lab.avahiPublish(
                "h1", "anna", "_x-SNSUpload._tcp", "9000", "filedrop=3", "port=9000")
            let process = try lab.exec("h1", "/bin/bash", "-c", "sleep 1000 | (\(server)) >>/var/lib/heard 2>&1")
            try await lab.run("h1", "/bin/bash", "-c", "until ss -Hltn | grep -q ':9000 '; do :; done")
            // One that speaks no TLS says something, or the handshake would wait.
            let sent =
                server.hasPrefix("nc")
                ? try await send(lab, folder, "very-secret-name", "--trust-first")
                : try await send(lab, folder, "very-secret-name", "--pin \(key)")
            #expect(sent.exit == .exited(Int32(status)), "\(reason): \(sent)")
            #expect(sent.failure?.contains(reason) == true || server.hasPrefix("nc"), "\(reason): \(sent)")
            process.signal(SIGKILL)
            try await lab.run("h1", "/bin/bash", "-c", "fuser -k 9000/tcp >/dev/null 2>&1; true")
            service.signal(SIGTERM)
            _ = try await service.exit()
        }
        #expect(try await lab.bash("h1", "grep -ac very-secret /var/lib/heard").output == ["0"])
        // A record from which all was taken out is none for which this side speaks without TLS.
        let service = try await lab.avahiPublish("h1", "bare", "_x-SNSUpload._tcp", "9000")
        let bare = try await send(lab, folder, "very-secret-name", "--to bare --trust-first")
        #expect(bare.exit == .exited(76) && bare.failure?.contains("speaks no TLS") == true, "\(bare)")
        service.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("callers with older TLS, an expired certificate or plain bytes are refused, and told so", .onlyInAll)
    func callers() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        let receiver = try await receive(lab, "h1", folder, "in", "--trust-first")
        let resolved = try await lab.ask("h2", "resolve", "anna", "_x-SNSUpload._tcp", "--json")
        let txt = try #require(try resolved.services().first?.txt)
        guard case .text(let port) = try #require(txt["port"] ?? nil) else { return }
        #expect(txt["tls"] == .text("1"))
        #expect(txt["fp"] == .text(try await key(lab, "h1")))
        let peer = "\(Lab.python) \(Lab.scripts)/tls_peer.py"
        _ = try await lab.bash("h2", "mkdir /var/lib/p && \(peer) make /var/lib/p old 210101000000Z")
        let client = "openssl s_client -connect 10.77.0.1:\(port)"
        let wrong = [
            ("\(client) -tls1_2 </dev/null", "it speaks an older TLS"),
            ("(echo x; sleep 1) | \(client) -quiet", "it has no certificate"),
            ("(echo x; sleep 1) | \(client) -quiet -cert /var/lib/p/cert.pem -key /var/lib/p/key.pem", "has expired"),
            ("printf 'filedrop/2\\n' | nc -N 10.77.0.1 \(port)", "it speaks no TLS"),
        ]
        for (command, reason) in wrong {
            _ = try await lab.bash("h2", command)
            try await receiver.line(.stderr, reason) { $0.contains(reason) }
        }
        #expect(folder.names("in").isEmpty)
        try await receiver.stop()
        try await lab.stop()
    }

    @Test("what passes the link shows neither a file's name nor its content; a plain stream shows it", .onlyInAll)
    func seen() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        let content = String(repeating: "very-secret-content ", count: 20_000)
        try Data(content.utf8).write(to: URL(filePath: "\(folder.path)/very-secret-name"))
        let texts = ["very-secret-name", "very-secret-content", "filedrop=3"]
        for options in ["--trust-first", "--plain"] {
            let sniffer = try lab.exec("h2", [Lab.python, "\(Lab.scripts)/sniff.py", "eth0"] + texts)
            try await sniffer.line { $0 == "ready" }
            let receiver = try await receive(lab, "h1", folder, "in\(options)", options)
            let sent = try await send(lab, folder, "very-secret-name", "--to anna \(options)")
            #expect(sent.exit == .exited(0), "\(sent)")
            if options == "--trust-first" {
                let offer = try lab.app(
                    "h1", "filedrop", "offer", "\(folder.path)/very-secret-name", "--name", "anna", options)
                try await offer.line { $0.hasPrefix("published anna") }
                let fetched = try await lab.askApp("h2", "filedrop", "fetch", "\(folder.path)/got", options)
                #expect(fetched.exit == .exited(0) && folder.isSame("very-secret-name", "got/very-secret-name"))
                try await offer.stop()
            }
            try await receiver.stop()
            sniffer.signal(SIGTERM)
            #expect(try await sniffer.exit() == .exited(0), "\(sniffer.lines(.stderr))")
            let said = sniffer.lines().dropFirst()
            #expect((said.first.flatMap { Int($0) } ?? 0) > 20, "\(said)")
            let expected = options == "--plain" ? ["very-secret-content"] : ["filedrop=3"]
            #expect(Array(said.dropFirst()) == expected, "\(options)")
        }
        try await lab.stop()
    }
}
