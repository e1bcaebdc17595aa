#if TLS
import DNSSD
import DiscoveryTLS
import PeerIdentity
import Testing

@Suite("Strangers, whom the program judges")
struct StrangerTests {
    private let tony: PeerName

    init() throws {
        tony = .service(ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp")))
    }

    @Test("both are let in as strangers, and nothing becomes known")
    func letIn() async throws {
        let pair = TLSPair(
            caller: try TLSPair.machine("caller", trust: .strangers),
            answerer: try TLSPair.machine("answerer", trust: .strangers))
        for _ in 0..<2 {
            let outcome = try await pair.connect(to: tony)
            let called = try outcome.calling.get()
            #expect(called.isStranger && called.isNew && called.key == pair.answerer.identity.fingerprint)
            let caller = try outcome.answering.get()
            #expect(caller.isStranger && caller.name == .label("caller"))
            #expect(outcome.received == "hello")
        }
        for machine in [pair.caller, pair.answerer] { #expect(try machine.known.read().peers.isEmpty) }
    }

    @Test("who is known is no stranger; another key under a known name is refused all the same")
    func known() async throws {
        let real = try TLSPair.machine("real", trust: .strangers)
        let hostile = try TLSPair.machine("real", trust: .strangers)
        let caller = try TLSPair.machine("caller", trust: .strangers)
        try caller.known.change { $0.add(.init(tony, real.identity.fingerprint)) }
        let good = try await TLSPair(caller: caller, answerer: real).connect(to: tony)
        #expect(try good.calling.get() == .init(name: tony, key: real.identity.fingerprint, isNew: false))
        let bad = try await TLSPair(caller: caller, answerer: hostile).connect(to: tony)
        guard case .failure(let error) = bad.calling, case .changed = error as? PeerRefusal else {
            Issue.record("\(bad.calling)")
            return
        }
        #expect(bad.received.isEmpty)
    }
}
#endif
