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
                // The maximum number of strangers is still being examined.
                try #require(ContinuousClock.now < deadline)
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }
}
