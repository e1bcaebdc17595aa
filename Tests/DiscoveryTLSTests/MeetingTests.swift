#if TLS
import DiscoveryTLS
import NIOCore
import NIOPosix
import PeerIdentity
import Testing

/// Two who do not know each other meet, to be paired.
struct MeetingTests {
    /// What each side has of the other.
    private func meet(
        _ caller: PeerTLS, _ answerer: PeerTLS
    ) async throws -> (Result<PeerTLS.Peer, any Error>, Result<PeerTLS.Peer, any Error>) {
        let group = MultiThreadedEventLoopGroup.singleton
        let called = group.next().makePromise(of: PeerTLS.Peer.self)
        let answered = group.next().makePromise(of: PeerTLS.Peer.self)
        let server = try await ServerBootstrap(group: group).childChannelInitializer { channel in
            answerer.secure(answering: channel).map { PeerTLS.peer(of: channel).cascade(to: answered) }
        }.bind(host: "127.0.0.1", port: 0).get()
        let client = try await ClientBootstrap(group: group).channelInitializer { channel in
            caller.secure(meeting: channel).map { PeerTLS.peer(of: channel).cascade(to: called) }
        }.connect(to: try #require(server.localAddress)).get()
        let results = (await called.futureResult.result(), await answered.futureResult.result())
        try? await client.close().get()
        try await server.close().get()
        return results
    }

    @Test("each knows the other's key and what it calls itself; nothing is stored, and one pairing makes both known")
    func strangers() async throws {
        let caller = try TLSPair.machine("h2", trust: .strangers)
        let answerer = try TLSPair.machine("h1", trust: .strangers)
        let (called, answered) = try await meet(caller, answerer)
        let (one, other) = (try called.get(), try answered.get())
        #expect(one == .init(name: .label("h1"), key: answerer.identity.fingerprint, isNew: true, isStranger: true))
        #expect(other == .init(name: .label("h2"), key: caller.identity.fingerprint, isNew: true, isStranger: true))
        #expect(try caller.known.read().peers.isEmpty && answerer.known.read().peers.isEmpty)
        var first = try PairingExchange(.caller, over: caller, with: one)
        var second = try PairingExchange(.answerer, over: answerer, with: other)
        let numbers = try first.received(sent(second.received(sent(first.start()))))
        let shown = try second.received(sent(numbers))
        #expect(try first.received(sent(shown)).last == shown.first)
    }

    private func sent(_ steps: [PairingExchange.Step]) -> [UInt8] {
        steps.flatMap { step -> [UInt8] in
            guard case .send(let bytes) = step else { return [] }
            return bytes
        }
    }

    @Test("a label that is known with another key is refused on either side")
    func changed() async throws {
        let other = try #require(KeyFingerprint(repeatElement(1, count: 32)))
        let knowing = try TLSPair.machine("knowing", trust: .strangers)
        for label in ["one", "two"] {
            try knowing.known.change { $0.add(.init(.label(label), other)) }
            let foreign = try TLSPair.machine(label, trust: .strangers)
            let (called, answered) = try await label == "one" ? meet(knowing, foreign) : meet(foreign, knowing)
            let expected = PeerRefusal.changed(.label(label), known: [other], now: foreign.identity.fingerprint)
            #expect(throws: expected) { try (label == "one" ? called : answered).get() }
        }
    }

    @Test("a machine that meets itself is not paired")
    func itself() async throws {
        let one = try TLSPair.machine("h1", trust: .strangers)
        let (called, _) = try await meet(one, one)
        let peer = try called.get()
        #expect(throws: PairingExchange.Failure.ownKey) { try PairingExchange(.caller, over: one, with: peer) }
    }
}
#endif
