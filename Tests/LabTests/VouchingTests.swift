import Foundation
import Testing

/// Whose word opens the services of a host, and what others can make a program print.
@Suite("who vouches for a host's services", .labSlot)
struct VouchingTests {
    private static let file = "/var/lib/discoverd-root/known_peers"

    private func bank(_ lab: Lab, _ options: String = "") async throws -> Lab.Run {
        try await lab.bash("h2", "echo hello | setsid -w $discoverd connect bank _bank._tcp --tls \(options)")
    }

    private func serve(_ lab: Lab) async throws -> LabProcess {
        try await lab.know("h1", "@h2", lab.key("h2"))
        let server = try lab.discoverd("h1", "listen", "bank", "--type", "_bank._tcp", "--tls", "--", "cat")
        try await server.line(.stdout, "published") { $0.contains("published ") }
        return server
    }

    @Test("a host that was added opens nothing; one that was paired with opens a service without a key, and is named")
    func onlyPaired() async throws {
        let lab = try await Lab.start()
        let key = try await lab.key("h1")
        let server = try await serve(lab)
        try await lab.know("h2", "h1.local", key)
        let added = try await bank(lab)
        #expect(added.exit == .exited(77) && added.output.isEmpty, "\(added)")
        #expect(try await lab.ask("h2", "known").output == ["h1.local\t\(key)"])
        for hashes in [false, true] {
            _ = try await lab.bash("h2", "echo 'h1.local \(key) paired 2026-11-23' >\(Self.file)")
            if hashes { try await lab.run("h2", Built.discoverd, "known", "hash") }
            let paired = try await bank(lab)
            #expect(paired.exit == .exited(0) && paired.output == ["hello"], "\(paired)")
            let host = hashes ? "a machine that" : "h1.local, which"
            #expect(
                paired.errors.contains {
                    $0
                        == "discoverd: bank._bank._tcp.local is answered by \(host) was paired on 2026-11-23: the name is bound to its key now"
                }, "\(paired)")
            let again = try await bank(lab)
            #expect(again.exit == .exited(0) && again.errors.isEmpty, "\(again)")
        }
        try await server.stop()
        try await lab.stop()
    }

    @Test(
        "a name is forgotten, and what its word has bound is named; a key is forgotten with all its names", .onlyInAll)
    func forgetting() async throws {
        let lab = try await Lab.start()
        let key = try await lab.key("h1")
        let server = try await serve(lab)
        _ = try await lab.bash(
            "h2", "mkdir -p /var/lib/discoverd-root; echo 'h1.local \(key) paired 2026-11-23' >\(Self.file)")
        #expect(try await bank(lab).exit == .exited(0))
        let name = try await lab.ask("h2", "known", "forget", "h1.local")
        #expect(name.exit == .exited(0), "\(name)")
        #expect(
            name.errors == [
                "discoverd: its key is still known as bank._bank._tcp.local: discoverd key forget \(key)"
            ], "\(name)")
        #expect(try await bank(lab).exit == .exited(0))
        let all = try await lab.ask("h2", "known", "forget", key)
        #expect(all.exit == .exited(0) && all.errors.isEmpty, "\(all)")
        #expect(try await lab.ask("h2", "known").output.isEmpty)
        #expect(try await bank(lab).exit == .exited(77))
        #expect(try await lab.ask("h2", "known", "forget", key).exit == .exited(1))
        try await server.stop()
        try await lab.stop()
    }

    @Test("what names nothing is not added: 64, and what is right", .onlyInAll)
    func names() async throws {
        let lab = try await Lab.start()
        let key = try await lab.key("h1")
        for name in ["printer", "tony witap tcp", "|1|a|b", "@|1|a|b", "_witap._tcp", "tony._witap", "|x.local"] {
            let refused = try await lab.ask("h1", "known", "add", name, key)
            #expect(refused.exit == .exited(64), "\(name): \(refused)")
            #expect(
                refused.errors.joined().contains("tony._witap._tcp.local, h1.local, 10.0.0.7 or @label"), "\(refused)")
        }
        for name in [
            "h1.local", "tony._witap._tcp.local", "tony._witap._tcp.example.org", "@tony", "h1.example.org",
            "10.77.0.1", "fd77::1",
        ] {
            #expect(try await lab.ask("h1", "known", "add", name, key).exit == .exited(0), "\(name)")
        }
        try await lab.stop()
    }

    @Test("the callers that listen refuses do not fill its log", .onlyInAll)
    func paced() async throws {
        let lab = try await Lab.start()
        let server = try await serve(lab)
        let resolved = try await lab.ask("h2", "resolve", "bank", "_bank._tcp", "--json")
        let port = try #require(try resolved.services().first?.port, "\(resolved)")
        let calls = try await lab.bash(
            "h2",
            "for n in {1..200}; do exec 3<>/dev/tcp/10.77.0.1/\(port); echo GET / HTTP/1.0 >&3; cat <&3; exec 3>&-; done",
            within: .seconds(60))
        #expect(calls.exit == .exited(0), "\(calls)")
        let lines = server.lines(.stderr).count { $0.contains("a connection was refused") }
        #expect((1..<60).contains(lines), "\(lines)")
        try await server.stop()
        try await lab.stop()
    }
}
