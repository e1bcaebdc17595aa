import Foundation
import Testing

/// `--tls` and openssl's own client and server.
@Suite("TLS with openssl", .labSlot)
struct OpenSSLTests {
    private static let tony = "tony._witap._tcp.local"
    private static let peer = "\(Lab.python) \(Lab.scripts)/tls_peer.py"

    @Test("openssl s_client, with this machine's certificate pinned; a resumed session lets nothing pass")
    func client() async throws {
        let lab = try await Lab.start()
        let made = try await lab.bash("h2", "mkdir /var/lib/p && \(Self.peer) make /var/lib/p openssl")
        try await lab.run("h1", Built.discoverd, "known", "add", "@openssl", try #require(made.output.first))
        let server = try lab.discoverd("h1", "listen", "tony", "--type", "_witap._tcp", "--tls", "--", "cat")
        try await server.line(.stdout, "published") { $0.contains("published ") }
        let port = try #require(
            try await lab.ask("h2", "resolve", "tony", "_witap._tcp", "--json").services().first?.port)
        let pinned = try await lab.bash("h1", "openssl x509 -in /var/lib/discoverd-root/identity.pem").output
        let client = """
            timeout 5 openssl s_client -connect 10.77.0.1:\(port) -cert /var/lib/p/cert.pem -key /var/lib/p/key.pem -tls1_3 \
            -CAfile /var/lib/p/pinned.pem -partial_chain -verify_return_error -no_ign_eof -quiet
            """
        let script = "cat >/var/lib/p/pinned.pem <<'END'\n\(pinned.joined(separator: "\n"))\nEND\n"
        let good = try await lab.bash(
            "h2", script + "(echo hello; sleep 1) | \(client) 2>&1 -sess_out /var/lib/p/session")
        #expect(good.output.contains("hello"), "\(good)")
        // A server that issues no tickets has nothing to resume: then the handshake is a whole one, and its certificate is judged again.
        try await lab.run("h1", Built.discoverd, "known", "forget", "@openssl")
        let resumed = try await lab.bash(
            "h2", "[ ! -s /var/lib/p/session ] || (echo secret; sleep 1) | \(client) 2>&1 -sess_in /var/lib/p/session")
        #expect(!resumed.output.contains("secret"), "\(resumed)")
        let foreign = try await lab.bash(
            "h2", "\(Self.peer) make /var/lib/p other && (echo secret; sleep 1) | \(client) 2>&1")
        #expect(!foreign.output.contains("secret"), "\(foreign)")
        try await server.stop()
        try await lab.stop()
    }

    @Test("openssl s_server, its certificate pinned here, ours there", .onlyInAll)
    func server() async throws {
        let lab = try await Lab.start()
        let service = try await lab.publish("h1", "tony", "9000")
        let made = try await lab.bash("h1", "mkdir /var/lib/p && \(Self.peer) make /var/lib/p openssl")
        let key = try #require(made.output.first)
        let ours = try await lab.bash(
            "h2", "$discoverd identity >/dev/null; openssl x509 -in /var/lib/discoverd-root/identity.pem")
        let script = """
            cat >/var/lib/p/pinned.pem <<'END'
            \(ours.output.joined(separator: "\n"))
            END
            exec openssl s_server -accept 9000 -cert /var/lib/p/cert.pem -key /var/lib/p/key.pem -tls1_3 -Verify 1 \
                -CAfile /var/lib/p/pinned.pem -partial_chain -verify_return_error -rev
            """
        let server = try lab.exec("h1", ["/bin/bash", "-c", script])
        try await server.line(.stdout, "ACCEPT") { $0.contains("ACCEPT") }
        let good = try await lab.bash("h2", "(echo hello; sleep 1) | $discoverd connect tony --tls --pin \(key)")
        #expect(good.output == ["olleh"], "\(good)")
        let wrong = try await lab.bash(
            "h2", "echo secret | $discoverd connect tony --tls --pin SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"
        )
        #expect(wrong.exit == .exited(77) && wrong.output.isEmpty, "\(wrong)")
        server.signal(SIGKILL)
        _ = try await server.exit()
        try await service.stop()
        try await lab.stop()
    }

    @Test(
        "--timeout is one deadline for connecting and the handshake, and --report tells of a handshake that failed",
        .onlyInAll)
    func deadline() async throws {
        let lab = try await Lab.start()
        let service = try await lab.publish("h1", "tony", "9000")
        let silent = try lab.exec("h1", "socat", "TCP-LISTEN:9000,fork", "EXEC:sleep 60")
        _ = try await lab.bash("h1", "until ss -tln | grep -q :9000; do sleep 0.05; done")
        let run = try await lab.ask("h2", "connect", "tony", "--tls", "--probe", "--json", "--timeout", "2")
        #expect(run.exit == .exited(76), "\(run)")
        #expect(run.output.count == 1 && run.output.first?.contains("\"event\":\"failed\"") == true, "\(run)")
        #expect(run.failure?.contains("did not finish the handshake in time") == true, "\(run)")
        silent.signal(SIGKILL)
        _ = try await silent.exit()
        try await service.stop()
        try await lab.stop()
    }
}
