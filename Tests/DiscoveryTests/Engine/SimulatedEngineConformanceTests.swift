import DNSSD
import Discovery
import DiscoveryTesting
import Testing

/// In the time of the network: a machine that is busy with other tests takes none of it.
@Suite(.timeLimit(.minutes(5))) struct SimulatedEngineConformanceTests {
    private let network = SimulatedNetwork()

    /// Two machines joined by two links.
    private func machine(_ name: String, _ number: Int) throws -> SimulatedEngine {
        try network.addMachine(
            name,
            interfaces: [
                .loopback, .ethernet(number), .ethernet(number, index: 3, name: "eth1", link: "other"),
            ])
    }

    private func run(
        _ check: EngineConformance.Check, _ publisher: any DiscoveryEngine, _ browser: any DiscoveryEngine
    ) async throws {
        var limits = DiscoveryLimits()
        limits.removalHold = .milliseconds(300)
        limits.changeInterval = .milliseconds(10)
        var environment = EngineConformance.Environment(
            publisher: publisher,
            browser: browser,
            limits: limits,
            browserBackend: EngineConformance.Backend(of: "h2", in: network),
            publisherBackend: EngineConformance.Backend(of: "h1", in: network),
            browserLink: EngineConformance.Backend(
                stop: { [network] in network.setLink("eth0", of: "h2", isUp: false) },
                start: { [network] in network.setLink("eth0", of: "h2", isUp: true) }),
            links: ["eth0", "eth1"],
            crowd: 100,
            openObjects: { [network] in network.openOperations })
        environment.time = network.time
        // A millisecond each time that all others have had their turn. One that has it on another thread may need as long as a thousand
        // turns of an idle one's: so never faster than forty times the time of the machine.
        let clock = Task { [time = network.time] in
            var last = ContinuousClock.now
            while !Task.isCancelled {
                await Task.yield()
                guard last.duration(to: .now) >= .microseconds(25) else { continue }
                last = .now
                time.advance(by: .milliseconds(1))
            }
        }
        defer { clock.cancel() }
        try await check.run(environment)
    }

    @Test(arguments: EngineConformance.checks) func conforms(_ check: EngineConformance.Check) async throws {
        try await run(check, try machine("h1", 1), try machine("h2", 2))
    }

    @Test("a router conforms as the engine of the domain does", arguments: EngineConformance.checks)
    func routerConforms(_ check: EngineConformance.Check) async throws {
        let zone = SimulatedNetwork(domains: [try Domain("home.example.org")], isUnicast: true, time: network.time)
        func router(_ engine: SimulatedEngine) throws -> EngineRouter {
            let engines: [any DiscoveryEngine] = [try zone.addMachine(engine.machine), engine]
            return EngineRouter(finders: engines, publishers: engines)
        }
        try await run(check, try router(try machine("h1", 1)), try router(try machine("h2", 2)))
    }
}
