#if TLS
import DNSSD
import Discovery
import DiscoveryTLS
import Foundation
import PeerIdentity
import PeerSession
import Synchronization
import Testing

extension SessionTests {
    /// A machine with a key of its own, and a file of those that it knows.
    private func machine(_ label: String, trust: PeerTrust = .first) throws -> PeerTLS {
        let directory = FileManager.default.temporaryDirectory.appending(path: "session-\(UUID().uuidString)").path
        return try PeerTLS(
            identity: MachineIdentity(directory: directory, label: label),
            known: KnownPeersFile(path: "\(directory)/known_peers"), trust: trust)
    }

    private func session(
        _ name: String, _ mode: SessionMode = .peer, id: UInt64, _ tls: PeerTLS,
        refused: @escaping @Sendable (PeerRefusal) -> Void = { _ in }
    ) throws -> PeerSession {
        try PeerSession(
            network: network, identifier: "test", displayName: name, mode: mode, id: PeerID(rawValue: id), tls: tls,
            refused: refused)
    }

    private func service(_ name: String) throws -> PeerName {
        .service(ServiceInstance(name: try ServiceName(name), type: try ServiceType("_test._tcp")))
    }

    private func accept(_ session: PeerSession) async throws -> Peer {
        let peer = try await wait(session) { if case .invited(let peer) = $0 { peer } else { nil } }
        await session.accept(peer.id)
        return peer
    }

    private func isDenied(_ code: SessionError.Code, _ body: () async throws -> Void) async -> SessionError? {
        let error = await #expect(throws: SessionError.self) { try await body() }
        #expect(error?.code == code, "\(String(describing: error))")
        return error
    }

    @Test(
        "over TLS messages of every length go both ways, small ones as sealed datagrams; each side knows the other's key"
    )
    func secured() async throws {
        let (here, there) = (try machine("here"), try machine("there"))
        let one = try session("one", id: 1, here)
        let two = try session("two", .client, id: 2, there)
        try await run(one, two) {
            try await wait(two, for: 1, .available)
            async let connected: Void = two.connect(to: one.id)
            let peer = try await accept(one)
            try await connected
            #expect(await one.identity(of: peer.id)?.name == .label("there"))
            #expect(await one.identity(of: peer.id)?.key == there.identity.fingerprint)
            #expect(try await two.identity(of: one.id)?.name == service("one"))
            #expect(await two.identity(of: one.id)?.key == here.identity.fingerprint)
            try await wait(one, usesDatagrams: true, to: two.id)
            try await wait(two, usesDatagrams: true, to: one.id)
            for length in [0, 1, 1199, 1200, 1215, 89_088] {
                let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
                for delivery in [Delivery.reliable, .unreliable] {
                    try await one.send(bytes, to: [two.id], delivery)
                    #expect(try await message(two) == (bytes, one.id))
                    try await two.sendToAll(bytes, delivery)
                    #expect(try await message(one) == (bytes, two.id))
                }
            }
        }
        #expect(try there.known.read().keys(of: service("one")) == [here.identity.fingerprint])
    }

    @Test("TXT says that there is TLS, and whose key")
    func hint() async throws {
        let tls = try machine("here")
        let one = try session("one", .server, id: 1, tls)
        try await run(one) {
            _ = try await wait(one) { if case .published = $0 { true } else { nil } }
            let instance = ServiceInstance(name: try ServiceName("one"), type: try ServiceType("_test._tcp"))
            let found = try await network.resolve(instance, within: .seconds(10))
            #expect(KeyHint(found.txt)?.key == tls.identity.fingerprint)
            #expect(found.txt.text(for: "tls") == "1" && found.txt.text(for: "id") == one.id.description)
        }
    }

    @Test("a peer whose key has changed is refused by who dials; the reason says so")
    func changed() async throws {
        let (here, there) = (try machine("here"), try machine("there"))
        try there.known.change {
            $0.add(.init(try service("one"), try machine("former").identity.fingerprint))
        }
        let one = try session("one", .server, id: 1, here)
        let two = try session("two", .client, id: 2, there)
        try await run(one, two) {
            try await wait(two, for: 1, .available)
            let error = await isDenied(.notTrusted) { try await two.connect(to: one.id) }
            guard case .changed(_, _, let now) = error?.refusal else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(now == here.identity.fingerprint)
            #expect(await one.peers.isEmpty)
        }
    }

    @Test("a caller whose key is not known is refused, and both sides are told")
    func unknown() async throws {
        let refusals = Mutex<[PeerRefusal]>([])
        let one = try session("one", .server, id: 1, try machine("here", trust: .known)) { refusal in
            refusals.withLock { $0.append(refusal) }
        }
        let there = try machine("there")
        let two = try session("two", .client, id: 2, there)
        try await run(one, two) {
            try await wait(two, for: 1, .available)
            let error = await isDenied(.notTrusted) { try await two.connect(to: one.id) }
            #expect(error?.refusal == .refusedByPeer)
        }
        #expect(refusals.withLock { $0 } == [.unknown(.label("there"), there.identity.fingerprint)])
    }

    @Test("a plain session is refused by one with TLS, and the other way round; both sides are told")
    func plain() async throws {
        let refusals = Mutex<[PeerRefusal]>([])
        let one = try session("one", .server, id: 1, try machine("here")) { refusal in
            refusals.withLock { $0.append(refusal) }
        }
        let bare = try session("bare", .server, id: 3)
        let caller = try session("caller", .client, id: 2)
        let secure = try session("secure", .client, id: 4, try machine("there"))
        try await run(one, bare, caller, secure) {
            try await wait(caller, for: 1, .available)
            try await wait(secure, for: 3, .available)
            let told = await isDenied(.notTrusted) { try await caller.connect(to: one.id) }
            #expect(told?.message == "one speaks TLS only")
            let other = await isDenied(.notTrusted) { try await secure.connect(to: bare.id) }
            guard case .noTLS = other?.refusal else {
                Issue.record("\(String(describing: other))")
                return
            }
            #expect(await bare.peers.isEmpty)
        }
        #expect(refusals.withLock { $0 } == [.noTLS("it speaks no TLS")])
    }

    @Test("whoever is let in is still not another: neither by that one's id nor by its name")
    func impostors() async throws {
        let (here, evil) = (try machine("here"), try machine("evil"))
        let real = try machine("real").identity.fingerprint
        try here.known.change { $0.add(.init(try service("tony"), real)) }
        let one = try session("one", .server, id: 1, here)
        let client = try session("tony", .client, id: 7, evil)
        let honest = try session("evil", .client, id: 8, evil)
        try await run(one, client, honest) {
            try await wait(client, for: 1, .available)
            _ = await isDenied(.declined) { try await client.connect(to: one.id) }
            try await wait(honest, for: 1, .available)
            async let connected: Void = honest.connect(to: one.id)
            #expect(try await accept(one).displayName == "evil")
            try await connected
        }
    }

    @Test("a peer is shown by the name of its service, whose key is known, whatever its TXT record says")
    func names() async throws {
        let two = try session("two", .client, id: 2, try machine("there"))
        var txt = TXTRecord()
        try txt.append(key: "id", text: PeerID(rawValue: 9).description)
        try txt.append(key: "name", text: "tony")
        let offered = OfferedService(
            name: try ServiceName("evil"), type: try ServiceType("_test._tcp"), port: try Port(9), txt: txt)
        let publication = network.publish(offered)
        try await run(two) {
            let name = try await wait(two) { event -> String? in
                if case .changed(let peer) = event, peer.id.rawValue == 9 { peer.displayName } else { nil }
            }
            #expect(name == "evil")
        }
        await publication.withdraw()
    }
}
#endif
