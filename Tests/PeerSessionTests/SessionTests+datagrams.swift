import DNSSD
import Discovery
import PeerSession
import Testing

extension SessionTests {
    private static let id = PeerID(rawValue: 7)

    /// Waits until datagrams are in use, or not in use.
    func wait(_ session: PeerSession, usesDatagrams: Bool, to peer: PeerID) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while await session.usesDatagrams(to: peer) != usesDatagrams {
            guard ContinuousClock.now < deadline else { throw SessionError.Missed() }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// A handmade peer that the session has admitted, and the session's address for datagrams.
    private func handmade(_ server: PeerSession, offers: Bool = true) async throws -> (HandmadePeer, DatagramOffer?) {
        _ = try await wait(server) { if case .published = $0 { true } else { nil } }
        let peer = try HandmadePeer(to: try await portOfServer())
        let offer = offers ? DatagramOffer(port: peer.udpPort, token: 99) : nil
        peer.say(.hello(Greeting(id: Self.id, name: "handmade", datagrams: offer)))
        _ = try await wait(server) { if case .invited = $0 { true } else { nil } }
        await server.accept(Self.id)
        guard case .welcome(let greeting) = try peer.frame() else { throw SessionError.Missed() }
        peer.say(.ping(heard: 0))
        try await wait(server, for: Self.id.rawValue, .connected)
        return (peer, greeting.datagrams)
    }

    /// Sends a message until the other session has it: one that is unreliable may be lost.
    private func send(_ bytes: [UInt8], from sender: PeerSession, until receiver: PeerSession) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<30 {
                    try await sender.send(bytes, to: [receiver.id], .unreliable)
                    try await Task.sleep(for: .seconds(1))
                }
                throw SessionError.Missed()
            }
            group.addTask { while try await message(receiver) != (bytes, sender.id) {} }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    @Test("two sessions switch to UDP in both directions; messages too long for it arrive too")
    func datagrams() async throws {
        let one = try session("one", .server, id: 1)
        let two = try session("two", .client, id: 2)
        try await run(one, two) {
            try await wait(two, for: 1, .available)
            async let connected: Void = two.connect(to: one.id)
            _ = try await wait(one) { if case .invited = $0 { true } else { nil } }
            await one.accept(two.id)
            try await connected
            try await wait(one, usesDatagrams: true, to: two.id)
            try await wait(two, usesDatagrams: true, to: one.id)
            for length in [0, 1, 1215, 1216, 89_088] {
                let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
                try await send(bytes, from: one, until: two)
                try await send(bytes, from: two, until: one)
            }
            // Nothing was lost for so long that the connection has taken over.
            #expect(await one.usesDatagrams(to: two.id))
            #expect(await two.usesDatagrams(to: one.id))
        }
    }

    @Test(
        "of datagrams only those count that come from the peer, with the token, newer than the last, and not too long")
    func strangersDatagrams() async throws {
        let server = try session("server", .server, id: 1)
        try await run(server) {
            let (peer, offered) = try await handmade(server)
            let offer = try #require(offered)
            // The session's socket is connected once its first datagram arrives.
            let first = try peer.datagram()
            #expect(first == SessionDatagram(token: 99, number: 1, message: nil), "\(first)")
            func bytes(_ number: UInt64, _ text: String, token: UInt64? = nil) -> [UInt8] {
                SessionDatagram(token: token ?? offer.token, number: number, message: Array(text.utf8)).bytes
            }
            peer.send(bytes(10, "another host"), to: offer.port, from: 0x7F00_0002)
            peer.send(bytes(11, "another port"), to: offer.port, from: 0x7F00_0001)
            peer.send(bytes(12, "no token", token: offer.token &+ 1), to: offer.port)
            peer.send(bytes(13, String(repeating: "too long", count: 500)), to: offer.port)
            peer.send([], to: offer.port)
            peer.send(bytes(5, "a"), to: offer.port)
            peer.send(bytes(5, "twice"), to: offer.port)
            peer.send(bytes(4, "older"), to: offer.port)
            peer.send(bytes(6, "b"), to: offer.port)
            #expect(try await message(server) == (Array("a".utf8), Self.id))
            #expect(try await message(server) == (Array("b".utf8), Self.id))
        }
    }

    @Test(
        "over the connection until the peer confirms a datagram, over UDP then, and over the connection when no more arrive"
    )
    func fallback() async throws {
        let server = try session("server", .server, id: 1)
        try await run(server) {
            let (peer, _) = try await handmade(server)
            try await server.send([1], to: [Self.id], .unreliable)
            #expect(try peer.frame() == .message([1], .unreliable))
            let probe = try peer.datagram()
            #expect(probe.message == nil)
            peer.say(.ping(heard: probe.number))
            try await wait(server, usesDatagrams: true, to: Self.id)
            try await server.send([2], to: [Self.id], .unreliable)
            var datagram = try peer.datagram()
            while datagram.message == nil { datagram = try peer.datagram() }
            #expect(datagram.message == [2])
            #expect(datagram.token == 99)
            for _ in 0..<3 { peer.say(.ping(heard: probe.number)) }
            try await wait(server, usesDatagrams: false, to: Self.id)
            try await server.send([3], to: [Self.id], .unreliable)
            #expect(try peer.frame() == .message([3], .unreliable))
        }
    }

    @Test("a peer that offers no datagrams is offered none, and gets everything over the connection")
    func noOffer() async throws {
        let server = try session("server", .server, id: 1)
        try await run(server) {
            let (peer, offered) = try await handmade(server, offers: false)
            #expect(offered == nil)
            peer.say(.ping(heard: 1))
            try await server.send([1], to: [Self.id], .unreliable)
            #expect(try peer.frame() == .message([1], .unreliable))
            peer.say(.message([2], .unreliable))
            #expect(try await message(server) == ([2], Self.id))
        }
    }
}
