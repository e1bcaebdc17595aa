import DNSSD
import Discovery
import DiscoverySystem
import DiscoveryTesting
import Testing

@testable import DiscoveryControl

@Suite("A query that goes on without the daemon") struct SuccessionTests {
    private let told = Locked<[BrowseFact]>([])

    private func succession() throws -> Succession<BrowseFact> {
        let query = ServiceQuery(.type(try ServiceType("_xx._tcp"), .local))
        return Succession(
            saying: { .backend($0) }, reporting: { [told] facts in told.withLock { $0 += facts } },
            start: { $0.browse(query, reporting: $1) })
    }

    private func isDown(_ fact: BrowseFact?) -> Bool { if case .backend(.down)? = fact { true } else { false } }

    @Test("what the daemon reported is no longer vouched for, though its stream has not noticed that it is away")
    func goesOver() throws {
        let succession = try succession()
        succession.received([.backend(.up), .listed])
        succession.goOver(to: try SimulatedNetwork().addMachine("h1"))
        let facts = told.withLock { $0 }
        #expect(facts.count > 2 && isDown(facts.dropFirst(2).first))
        succession.cancel()
    }

    @Test("a query of which the daemon has said nothing has lost nothing")
    func begins() throws {
        let succession = try succession()
        succession.goOver(to: try SimulatedNetwork().addMachine("h1"))
        let facts = told.withLock { $0 }
        #expect(facts.allSatisfy { !isDown($0) })
        succession.cancel()
    }
}
