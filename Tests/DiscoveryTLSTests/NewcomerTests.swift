#if TLS
import DNSSD
import NIOCore
import NIOPosix
import PeerIdentity
import Testing

@testable import DiscoveryTLS

@Suite("Who has dialled in and proven nothing")
struct NewcomerTests {
    private let tony: PeerName

    init() throws {
        tony = .service(ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp")))
    }

    @Test("one byte buys no more time than none", .timeLimit(.minutes(5)))
    func oneByte() async throws {
        var answerer = try TLSPair.machine("answerer")
        answerer.silence = .milliseconds(200)
        let result = try await TLSPair.oneByte(to: answerer)
        #expect(throws: PeerRefusal.timedOut) { try result.get() }
    }

    @Test("a person who is asked on the calling side has the long time, though no certificate can come meanwhile")
    func asked() async throws {
        var answerer = try TLSPair.machine("answerer", trust: .first)
        // What comes before the question takes some of it, too, on a busy machine.
        answerer.silence = .seconds(2)
        // The person answers when the short time of somebody who came after the question is over.
        let short = answerer
        let caller = try TLSPair.machine("caller") { _ in (try? await TLSPair.oneByte(to: short)) != nil }
        let outcome = try await TLSPair(caller: caller, answerer: answerer).connect(to: tony)
        #expect(outcome.received == "hello", "\(outcome)")
    }

    @Test(
        "a connection that its program closes within the handshake is over at once, also while a person is asked",
        .timeLimit(.minutes(5)))
    func closed() async throws {
        let asked = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
        let caller = try TLSPair.machine("caller", trust: .first)
        let answerer = try TLSPair.machine("answerer") { _ in
            asked.succeed()
            await TLSPair.untilCancelled()
            return false
        }
        let group = MultiThreadedEventLoopGroup.singleton
        let accepted = group.next().makePromise(of: (any Channel).self)
        let server = try await ServerBootstrap(group: group).childChannelInitializer { channel in
            answerer.secure(answering: channel).map { accepted.succeed(channel) }
        }.bind(host: "127.0.0.1", port: 0).get()
        let tony = tony
        let client = try await ClientBootstrap(group: group).channelInitializer { caller.secure($0, calling: tony) }
            .connect(to: try #require(server.localAddress)).get()
        try await asked.futureResult.get()
        try await accepted.futureResult.get().close()
        try? await client.close()
        try await server.close()
    }
}
#endif
