import Discovery
import DiscoveryTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct SimulatedEngineConformanceTests {
    @Test(arguments: EngineConformance.checks) func conforms(_ check: EngineConformance.Check) async throws {
        let network = SimulatedNetwork()
        var limits = DiscoveryLimits()
        limits.removalHold = .milliseconds(30)
        limits.changeInterval = .milliseconds(10)
        try await check.run(
            EngineConformance.Environment(
                publisher: try network.addMachine("h1"),
                browser: try network.addMachine("h2"),
                limits: limits,
                browserBackend: EngineConformance.Backend(of: "h2", in: network),
                publisherBackend: EngineConformance.Backend(of: "h1", in: network),
                openObjects: { network.openOperations }
            )
        )
    }
}
