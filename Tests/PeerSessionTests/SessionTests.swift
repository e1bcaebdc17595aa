import DNSSD
import Discovery
import DiscoveryTesting
import Foundation
import Glibc
import PeerSession
import Testing

/// Sessions over real sockets on loopback; a simulated network tells where they are.
@Suite("Peer session", .serialized, .timeLimit(.minutes(2)))
struct SessionTests {
    let network: LocalNetwork

    init() throws {
        network = LocalNetwork(engine: try SimulatedNetwork().addMachine("h1", interfaces: [.loopback]))
    }

    func session(_ name: String, _ mode: SessionMode = .peer, id: UInt64) throws -> PeerSession {
        try PeerSession(
            network: network, identifier: "test", displayName: name, mode: mode, id: PeerID(rawValue: id))
    }

    /// Runs sessions for the duration of `body`.
    func run(_ sessions: PeerSession..., body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for session in sessions {
                group.addTask {
                    try await session.run()
                    return false
                }
            }
            group.addTask {
                try await body()
                return true
            }
            while let isBody = try await group.next(), !isBody {}
            group.cancelAll()
        }
    }

    /// The first event for which `pick` returns a value.
    func wait<T>(_ session: PeerSession, _ pick: (SessionEvent) -> T?) async throws -> T {
        for await event in session.events {
            if let picked = pick(event) { return picked }
        }
        throw SessionError.Missed()
    }

    func wait(_ session: PeerSession, for id: UInt64, _ state: PeerState) async throws {
        try await wait(session) { event -> Void? in
            guard case .changed(let peer) = event, peer.id.rawValue == id, peer.state == state else { return nil }
            return ()
        }
    }

    /// Connects a client to a server, which accepts it.
    private func join(_ client: PeerSession, to hub: PeerSession) async throws {
        try await wait(client, for: hub.id.rawValue, .available)
        // Its limit is above what a clock can count.
        async let connected: Void = client.connect(to: hub.id, within: .seconds(Int64.max))
        let who = try await wait(hub) { if case .invited(let peer) = $0 { peer } else { nil } }
        await hub.accept(who.id)
        try await connected
        try await wait(hub, for: who.id.rawValue, .connected)
    }

    func message(_ session: PeerSession) async throws -> ([UInt8], PeerID) {
        try await wait(session) { if case .received(let bytes, let peer, _) = $0 { (bytes, peer.id) } else { nil } }
    }

    @Test(
        "a client invites a server, which accepts; messages of every length up to 87 KB go both ways, longer ones nowhere"
    )
    func messages() async throws {
        let server = try session("server", .server, id: 1)
        let client = try session("client\u{1B}", .client, id: 2)
        try await run(server, client) {
            try await wait(client, for: 1, .available)
            async let connected: Void = client.connect(to: server.id)
            let who = try await wait(server) { if case .invited(let peer) = $0 { peer } else { nil } }
            #expect(who.id == client.id)
            #expect(who.description == #"client\u{1B}"#)
            await server.accept(who.id)
            try await connected
            for length in [0, 1, 1000, 89_088] {
                let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
                try await client.send(bytes, to: [server.id])
                #expect(try await message(server) == (bytes, client.id))
                try await server.sendToAll(bytes, .unreliable)
                #expect(try await message(client) == (bytes, server.id))
            }
            for delivery in [Delivery.reliable, .unreliable] {
                let error = await #expect(throws: SessionError.self) {
                    try await client.sendToAll([UInt8](repeating: 0, count: 89_089), delivery)
                }
                #expect(error?.code == .messageTooLong)
                #expect(error?.message.contains("89089 bytes") == true)
            }
            await client.disconnect(from: server.id)
            // Subscribers that start after the client is gone for good get the same view.
            while await !server.peers.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
            try await wait(server, for: 2, .disconnected)
            let error = await #expect(throws: SessionError.self) { try await client.send([1], to: [server.id]) }
            #expect(error?.code == .noSuchPeer)
        }
    }

    @Test("two peers that dial each other simultaneously have one connection, twenty times in a row")
    func simultaneous() async throws {
        let one = try session("one", id: 1)
        let two = try session("two", id: 2)
        try await run(one, two) {
            try await wait(one, for: 2, .available)
            try await wait(two, for: 1, .available)
            for round in 0..<20 {
                async let first: Void = one.connect(to: two.id)
                async let second: Void = two.connect(to: one.id)
                try await first
                try await second
                try await one.send([UInt8(round)], to: [two.id])
                #expect(try await message(two) == ([UInt8(round)], one.id))
                try await two.send([UInt8(round)], to: [one.id])
                #expect(try await message(one) == ([UInt8(round)], two.id))
                await one.disconnectFromAll()
                try await wait(two, for: 1, .available)
            }
        }
    }

    @Test("a decline is reported, and so is a missing peer")
    func declines() async throws {
        let one = try session("one", id: 1)
        let two = try session("two", id: 2)
        try await run(one, two) {
            try await wait(one, for: 2, .available)
            async let refused = #expect(throws: SessionError.self) { try await one.connect(to: two.id) }
            let who = try await wait(two) { if case .invited(let peer) = $0 { peer } else { nil } }
            await two.decline(who.id)
            #expect(await refused?.code == .declined)
            let nobody = await #expect(throws: SessionError.self) {
                try await one.connect(to: PeerID(rawValue: 99), within: .seconds(1))
            }
            #expect(nobody?.code == .noSuchPeer)
        }
    }

    @Test("who waits for a peer when the session ends is told that, and so is who asks afterwards")
    func callersAtTheEnd() async throws {
        let server = try session("server", .server, id: 1)
        let client = try session("client", .client, id: 2)
        try await run(server) {
            let running = Task { try await client.run() }
            defer { running.cancel() }
            try await wait(client, for: 1, .available)
            async let waiting = #expect(throws: SessionError.self) { try await client.connect(to: server.id) }
            // Nobody accepts.
            _ = try await wait(server) { if case .invited = $0 { true } else { nil } }
            running.cancel()
            _ = await running.result
            #expect(await waiting?.code == .ended)
            #expect(await client.peers.map(\.id) == [server.id])
            let late = await #expect(throws: SessionError.self) { try await client.connect(to: server.id) }
            #expect(late?.code == .ended)
        }
    }

    @Test("the third of three receives what is sent to all, not what is sent to another")
    func someAndAll() async throws {
        let hub = try session("hub", .server, id: 1)
        let left = try session("left", .client, id: 2)
        let right = try session("right", .client, id: 3)
        try await run(hub, left, right) {
            for client in [left, right] { try await join(client, to: hub) }
            try await hub.send([1], to: [left.id])
            try await hub.sendToAll([2])
            #expect(try await message(left).0 == [1])
            #expect(try await message(left).0 == [2])
            #expect(try await message(right).0 == [2])
        }
    }

    @Test("a peer that reads nothing delays neither others nor unreliable sending, and does not fill memory")
    func slowReader() async throws {
        let hub = try session("hub", .server, id: 1)
        let slow = try session("slow", .client, id: 2)
        let quick = try session("quick", .client, id: 3)
        try await run(hub, slow, quick) {
            for client in [slow, quick] { try await join(client, to: hub) }
            // From here on no one takes the events of `slow`, which is sent 89 MB.
            let big = [UInt8](repeating: 7, count: PeerSession.maximumMessageLength)
            let before = residentBytes()
            for round in 0..<1000 {
                try await hub.sendToAll(big, .unreliable)
                try await hub.send([UInt8(truncatingIfNeeded: round)] + big.dropFirst(), to: [quick.id])
                while try await message(quick).0[0] != UInt8(truncatingIfNeeded: round) {}
            }
            let grown = residentBytes() - before
            #expect(grown < 64 << 20, "\(grown >> 20) MB more")
            // It still reports its presence, and receives what arrives once it reads again.
            #expect(await hub.peers.count { $0.state == .connected } == 2)
            await hub.disconnect(from: slow.id)
            try await wait(slow, for: 1, .disconnected)
        }
    }

    /// The port of the session `server`, as the network reports it.
    func portOfServer() async throws -> UInt16 {
        let instance = ServiceInstance(name: try ServiceName("server"), type: try ServiceType("_test._tcp"))
        return try #require(try await network.resolve(instance, within: .seconds(10)).port).rawValue
    }

    /// This process's resident memory (proc_pid_statm(5)).
    private func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }

    @Test("strangers that say nothing, garbage, too much, or a second hello are dropped, and the session continues")
    func hostile() async throws {
        let server = try session("server", .server, id: 1)
        let client = try session("client", .client, id: 2)
        try await run(server, client) {
            try await wait(client, for: 1, .available)
            let port = try await portOfServer()
            let hello = Frame.hello(Greeting(id: PeerID(rawValue: 7), name: "x")).bytes
            for bytes in [
                [0xFF, 0xFF, 0xFF, 0xFF, 4], [0, 1, 0x5C, 2, 4], Array("GET / HTTP/1.1\r\n\r\n".utf8), Frame.bye.bytes,
                hello + hello, Frame.welcome(Greeting(id: PeerID(rawValue: 7), name: "x")).bytes,
            ] as [[UInt8]] {
                #expect(try closes(port, bytes), "\(bytes)")
            }
            async let connected: Void = client.connect(to: server.id)
            let who = try await wait(server) { event -> Peer? in
                if case .invited(let peer) = event, peer.id == client.id { peer } else { nil }
            }
            await server.accept(who.id)
            try await connected
        }
    }

    /// Whether the other side closes the connection after these bytes. Blocks for at most 10 s.
    private func closes(_ port: UInt16, _ bytes: [UInt8]) throws -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw SessionError.Missed() }
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 || (count < 0 && errno == ECONNRESET) { return true }
            if count < 0 { return false }
        }
    }
}

extension SessionError {
    /// An expected event did not happen.
    struct Missed: Error {}
}
