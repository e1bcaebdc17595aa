import DNSSD
import Discovery
import DiscoverySystem
import Records
import Testing

@testable import MulticastEngine

@Suite("all publications of a process", .timeLimit(.minutes(1)))
struct ResponderCoreTests {
    @Test("after the engine's end what ends has ended, and what begins has failed")
    func afterEnd() async throws {
        // It does not run: what is called is done here.
        let loop = try #require(EventLoop(paused: "test"))
        let core = try #require(ResponderCore(loop: loop))
        var ended: [Int] = []
        core.endAll { ended.append(0) }
        core.end(1) { ended.append(1) }
        #expect(ended == [0, 1])
        let (facts, reporting) = AsyncStream<PublicationFact>.makeStream()
        let service = try OfferedService(name: "tony", type: "_witap._tcp", port: 80)
        let publication = WirePublication(
            service, Registration(of: service, policy: .rename), number: 2, isProven: false,
            report: { reporting.yield($0) })
        core.start(publication)
        let fact = await facts.first { _ in true }
        #expect(fact?.state == .failed(DiscoveryError(.closed, "the engine was shut down")))
        #expect(core.openObjects == 0)
    }
}
