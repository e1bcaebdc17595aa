import Foundation
import Testing

/// `--tls`, `identity` and `known` in the lab, between built programs, and with openssl and Python's ssl.
@Suite("TLS between known machines", .labSlot)
struct TLSTests {
    private static let tony = "tony._witap._tcp.local"

    private func listen(_ lab: Lab, _ host: String, _ options: String...) async throws -> LabProcess {
        let program = ["listen", "tony", "--type", "_witap._tcp", "--tls"] + options
        let process = try lab.exec(host, [Built.discoverd] + program)
        try await process.line(options.contains("--") ? .stdout : .stderr, "published") { $0.contains("published ") }
        return process
    }

    private func key(_ lab: Lab, _ host: String) async throws -> String {
        let identity = try await lab.ask(host, "identity")
        return try #require(identity.output.first?.split(separator: "\t").first.map(String.init), "\(identity)")
    }

    private func say(_ lab: Lab, _ text: String, _ options: String) async throws -> Lab.Run {
        try await lab.bash("h2", "printf '\(text)\\n' | setsid -w $discoverd connect tony --tls \(options)")
    }

    @Test("two machines that were told each other's keys talk; before, nobody is let in")
    func acquainted() async throws {
        let lab = try await Lab.start()
        let (one, two) = (try await key(lab, "h1"), try await key(lab, "h2"))
        #expect(one != two)
        let server = try await listen(lab, "h1", "--", "cat")
        let stranger = try await say(lab, "hello", "")
        #expect(stranger.exit == .exited(77) && stranger.output.isEmpty, "\(stranger)")
        #expect(stranger.errors.contains { $0.hasSuffix("discoverd key add '\(Self.tony)' \(one)") }, "\(stranger)")
        try await lab.run("h2", Built.discoverd, "known", "add", Self.tony, one)
        let unknown = try await say(lab, "hello", "")
        #expect(unknown.exit == .exited(77) && unknown.output.isEmpty, "\(unknown)")
        #expect(unknown.failure?.contains("does not let this machine in") == true, "\(unknown)")
        #expect(unknown.errors.contains { $0.hasSuffix("discoverd key add '@h2' \(two)") }, "\(unknown)")
        try await lab.run("h1", Built.discoverd, "known", "add", "@h2", two)
        let known = try await say(lab, "hello", "")
        #expect(known.exit == .exited(0) && known.output == ["hello"], "\(known)")
        try await lab.run("h1", Built.discoverd, "known", "forget", "@h2")
        let probe = try await lab.ask("h2", "connect", "tony", "--tls", "--probe")
        #expect(probe.exit == .exited(77), "\(probe)")
        let much = try await lab.bash("h2", "head -c 20000000 /dev/zero | $discoverd connect tony --tls")
        #expect(much.exit == .exited(77), "\(much)")
        try await server.stop()
        try await lab.stop()
    }

    @Test("another machine under the name gets no byte, ten times of ten, also with --trust-first", .onlyInAll)
    func impostor() async throws {
        let lab = try await Lab.start(hosts: 3)
        let real = try await listen(lab, "h1", "--trust-first", "--", "cat")
        #expect(try await say(lab, "hello", "--trust-first").output == ["hello"])
        try await real.stop()
        let impostor = try await listen(lab, "h3", "--trust-first", "--", "sh", "-c", "cat >>/var/lib/stolen")
        for attempt in 0..<10 {
            let refused = try await say(lab, "secret", attempt % 2 == 0 ? "--trust-first" : "")
            #expect(refused.exit == .exited(77) && refused.output.isEmpty, "\(refused)")
            #expect(refused.failure?.hasSuffix("THE KEY OF \(Self.tony) HAS CHANGED") == true, "\(refused)")
        }
        try await impostor.stop()
        #expect(try await lab.bash("h3", "cat /var/lib/stolen").output.isEmpty)
        try await lab.stop()
    }

    @Test("what is known can be shown and forgotten; lines of nonsense stay, and are told by number", .onlyInAll)
    func known() async throws {
        let lab = try await Lab.start()
        let key = try await key(lab, "h1")
        try await lab.run("h1", Built.discoverd, "known", "add", "My Printer._ipp._tcp.local", key)
        let other = try await lab.bash(
            "h1", "$discoverd known add 'my printer._ipp._tcp.local' SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"
        )
        #expect(other.exit == .exited(77) && other.failure?.contains(key) == true, "\(other)")
        try await lab.run("h1", "sh", "-c", "echo nonsense >>/var/lib/discoverd-root/known_peers")
        let list = try await lab.ask("h1", "known")
        #expect(list.exit == .exited(0) && list.output == ["My\\032Printer._ipp._tcp.local\t\(key)"], "\(list)")
        #expect(list.errors.contains { $0.contains("line 3 makes no sense") }, "\(list)")
        try await lab.run("h1", Built.discoverd, "known", "forget", "My Printer._ipp._tcp.local")
        let left = try await lab.bash("h1", "cat /var/lib/discoverd-root/known_peers").output
        #expect(left == ["# discoverd format 1", "nonsense"])
        #expect(try await lab.ask("h1", "known", "forget", "nobody._ipp._tcp.local").exit == .exited(1))
        try await lab.stop()
    }

    @Test("Python's ssl calls with the certificate pinned; TLS 1.2, no certificate and no TLS are refused", .onlyInAll)
    func calls() async throws {
        let lab = try await Lab.start()
        let server = try await listen(lab, "h1", "--", "cat")
        let resolved = try await lab.ask("h2", "resolve", "tony", "_witap._tcp", "--json")
        let port = try #require(try resolved.services().first?.port)
        let peer = "\(Lab.python) \(Lab.scripts)/tls_peer.py"
        let made = try await lab.bash("h2", "mkdir /var/lib/p && \(peer) make /var/lib/p python")
        let key = try #require(made.output.first, "\(made)")
        try await lab.run("h1", Built.discoverd, "known", "add", "@python", key)
        let certificate = try await lab.bash("h1", "openssl x509 -in /var/lib/discoverd-root/identity.pem").output
        let call = """
            cat >/var/lib/p/pinned.pem <<'END'
            \(certificate.joined(separator: "\n"))
            END
            \(peer) call 10.77.0.1 \(port) /var/lib/p /var/lib/p/pinned.pem
            """
        let good = try await lab.bash("h2", call)
        #expect(good.output == ["TLSv1.3 hello"], "\(good)")
        let old = "openssl s_client -connect 10.77.0.1:\(port) -cert /var/lib/p/cert.pem -key /var/lib/p/key.pem"
        let wrong = [
            ("\(old) -tls1_2 </dev/null", "it speaks an older TLS"),
            ("(echo secret; sleep 1) | openssl s_client -connect 10.77.0.1:\(port) -quiet", "it has no certificate"),
            ("printf 'secret of ten bytes\\n' | nc -N 10.77.0.1 \(port)", "it speaks no TLS"),
        ]
        for (command, reason) in wrong {
            _ = try await lab.bash("h2", command)
            try await server.line(.stderr, reason) { $0.contains("a connection was refused") && $0.contains(reason) }
        }
        try await server.stop()
        try await lab.stop()
    }

    @Test("Python's ssl answers, where its key is known; an expired certificate is refused", .onlyInAll)
    func answers() async throws {
        let lab = try await Lab.start()
        let peer = "\(Lab.python) \(Lab.scripts)/tls_peer.py"
        let service = try await lab.publish("h1", "tony", "9000")
        for (folder, end) in [("/var/lib/p", ""), ("/var/lib/q", "210101000000Z")] {
            let made = try await lab.bash("h1", "mkdir \(folder) && \(peer) make \(folder) python \(end)")
            let key = try #require(made.output.first, "\(made)")
            let server = try lab.python("h1", "tls_peer.py", ["answer", "9000", folder])
            try await server.line(.stdout, "ready") { $0 == "ready" }
            let result = try await say(lab, "hello", "--pin \(key)")
            if !end.isEmpty {
                #expect(result.exit == .exited(77) && result.failure?.contains("has expired") == true, "\(result)")
            } else {
                #expect(result.exit == .exited(0), "\(result)")
                try await server.line(.stdout, "heard") { $0 == "TLSv1.3 hello" }
            }
            server.signal(SIGKILL)
            _ = try await server.exit()
        }
        service.signal(SIGTERM)
        try await lab.stop()
    }

    @Test("who connects and says nothing keeps no other out of a listener for one connection", .onlyInAll)
    func silent() async throws {
        let lab = try await Lab.start()
        let listen = "exec \(Built.discoverd) listen tony --tls --trust-first </dev/null"
        let server = try lab.exec("h1", "/bin/bash", "-c", listen)
        try await server.line(.stderr, "published") { $0.contains("published ") }
        let resolved = try await lab.ask("h2", "resolve", "tony", "_witap._tcp", "--json")
        let port = try #require(try resolved.services().first?.port)
        let silent = try (0..<3).map { _ in try lab.exec("h2", "nc", "10.77.0.1", "\(port)") }
        #expect(try await say(lab, "hello", "--trust-first").exit == .exited(0))
        #expect(try await server.exit() == .exited(0))
        #expect(server.lines() == ["hello"])
        for process in silent { process.signal(SIGTERM) }
        try await lab.stop()
    }
}
