import Foundation
import Testing

/// `connect` and `forward` without `--tls` to a service whose key is known.
@Suite("plain bytes to a known machine", .labSlot)
struct PlainToKnownTests {
    private static let tony = "tony._witap._tcp.local"
    private static let refusal = "\(tony) announces TLS, and its key is known: without TLS nothing is sent to it"

    private func say(_ lab: Lab, _ options: String) async throws -> Lab.Run {
        try await lab.bash("h2", "printf 'secret\\n' | setsid -w $discoverd connect tony \(options)")
    }

    @Test(
        "nothing is sent to a service that announces TLS, its name hashed or not; --plain sends; --probe says nothing")
    func refused() async throws {
        let lab = try await Lab.start()
        let server = try lab.discoverd("h1", "listen", "tony", "--tls", "--", "cat")
        try await server.line(.stdout, "published") { $0.hasPrefix("published ") }
        // What comes to it without TLS is told.
        let told = { try await server.line(.stderr, "no TLS") { $0.contains("it speaks no TLS") } }
        _ = try await say(lab, "")
        _ = try await told()
        try await lab.run("h2", Built.discoverd, "known", "add", Self.tony, lab.key("h1"))
        for hashes in [false, true] {
            if hashes { try await lab.run("h2", Built.discoverd, "known", "hash") }
            let run = try await say(lab, "")
            #expect(run.exit == .exited(77) && run.failure?.hasSuffix(Self.refusal) == true, "\(run)")
            #expect(run.errors.contains { $0.contains("--plain sends all the same") }, "\(run)")
            #expect(try await say(lab, "--probe").exit == .exited(0))
        }
        let forwarder = try lab.discoverd("h2", "forward", "0", "tony")
        try await forwarder.line(.stdout, "forwarding") { $0.hasPrefix("forwarding ") }
        let port = try #require(forwarder.lines().first?.split(separator: " ")[1].split(separator: ":").last)
        _ = try await lab.bash("h2", "printf 'secret\\n' | nc -N 127.0.0.1 \(port)")
        try await forwarder.line(.stderr, "refused") { $0.hasSuffix(Self.refusal) }
        try await forwarder.stop()
        #expect(!server.lines(.stderr).contains { $0.contains("more like these") })
        #expect(server.lines(.stderr).count { $0.contains("it speaks no TLS") } == 1, "\(server.lines(.stderr))")
        _ = try await say(lab, "--plain")
        _ = try await told()
        // A file of a newer version: who is known is not known.
        try await lab.run("h2", "bash", "-c", "echo '# discoverd format 99' >/var/lib/discoverd-root/known_peers")
        let unread = try await say(lab, "")
        #expect(unread.exit == .exited(77) && unread.failure?.contains("cannot be said") == true, "\(unread)")
        let both = try await say(lab, "--plain --tls")
        #expect(both.exit == .exited(64), "\(both)")
        try await server.stop()
        try await lab.stop()
    }

    @Test(
        "a known name that does not announce TLS is spoken to, with a line; one that is not known without one",
        .onlyInAll)
    func doubtful() async throws {
        let lab = try await Lab.start()
        let server = try lab.discoverd("h1", "listen", "tony", "--", "cat")
        try await server.line(.stdout, "published") { $0.hasPrefix("published ") }
        let unknown = try await say(lab, "")
        #expect(unknown.exit == .exited(0) && unknown.errors.isEmpty, "\(unknown)")
        try await lab.run("h2", Built.discoverd, "known", "add", Self.tony, lab.key("h1"))
        let known = try await say(lab, "")
        #expect(known.exit == .exited(0) && known.output == ["secret"], "\(known)")
        #expect(
            known.errors == ["discoverd: the key of \(Self.tony) is known, but without --tls nothing says who answers"])
        try await server.stop()
        try await lab.stop()
    }
}
