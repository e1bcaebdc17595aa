import PeerSession
import Testing

extension SessionTests {
    @Test("connections that are reset immediately are forgotten: after a thousand of them a peer is still heard")
    func resetAtOnce() async throws {
        let server = try session("server", .server, id: 1)
        try await run(server) {
            _ = try await wait(server) { if case .published = $0 { true } else { nil } }
            let port = try await portOfServer()
            for _ in 0..<1000 { try HandmadePeer(to: port).reset() }
            // The peer it looks for is not here, which is answered at once.
            let greeting = Greeting(id: PeerID(rawValue: 7), name: "late", to: PeerID(rawValue: 8))
            let deadline = ContinuousClock.now + .seconds(20)
            while true {
                let peer = try HandmadePeer(to: port)
                peer.say(.hello(greeting))
                if case .decline(.another) = try? peer.frame() { break }
                try #require(ContinuousClock.now < deadline)
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    @Test("forty silent connections of one host keep no other out, and not even one of its own")
    func silentOnes() async throws {
        let server = try session("server", .server, id: 1)
        try await run(server) {
            _ = try await wait(server) { if case .published = $0 { true } else { nil } }
            let port = try await portOfServer()
            let silent = try (0..<40).map { _ in try HandmadePeer(to: port) }
            let peer = try HandmadePeer(to: port)
            peer.say(.hello(Greeting(id: PeerID(rawValue: 7), name: "late", to: PeerID(rawValue: 8))))
            // The peer it looks for is not here, which is answered at once.
            guard case .decline(.another) = try peer.frame() else {
                Issue.record("no answer")
                return
            }
            withExtendedLifetime(silent) {}
        }
    }
}
