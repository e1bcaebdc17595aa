import DNSSD
import DiscoverySystem
import DiscoveryTesting
import Testing

@testable import Discovery

@Suite("Marks that are overtaken", .timeLimit(.minutes(5)))
struct OvertakenMarkTests {
    @Test("a service that is reached while it is being marked as unreachable is not listed as that")
    func overtaken() async throws {
        let simulated = SimulatedNetwork()
        let engine = OvertakingEngine(try simulated.addMachine("h2"))
        let network = LocalNetwork(engine: engine, time: TestTime())
        let instance = try instance("tony")
        let service = OfferedService(name: instance.name, type: instance.type, port: try Port(9000))
        let publication = try simulated.addMachine("h1").publish(service, onConflict: .fail) { _ in }
        var events = network.browse(instance.type).makeAsyncIterator()
        while let event = try await events.next(), event != .settled {}
        let directory = network.directory
        engine.whenNotReached.withLock { $0 = { [weak directory] in directory?.reached($0) } }
        directory.couldNotReach(instance) { true }
        #expect(directory.reachability.marked.isEmpty)
        let isListedSo = directory.services.contains { $0.unreachable.contains(instance) }
        #expect(!isListedSo)
        publication.cancel()
        await network.shutdown()
    }
}

/// Does something between the moment in which a service is marked and the one in which that is told.
private final class OvertakingEngine: DiscoveryEngine {
    let whenNotReached = Locked<(@Sendable (ServiceInstance) -> Void)?>(nil)
    private let engine: SimulatedEngine

    init(_ engine: SimulatedEngine) { self.engine = engine }

    func finds(in domain: Domain) -> Bool { engine.finds(in: domain) }

    func publishes(in domain: Domain) -> Bool { engine.publishes(in: domain) }

    func couldNotReach(_ instance: ServiceInstance) { whenNotReached.withLock { $0 }?(instance) }

    func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        engine.watchState(reporting)
    }

    func browse(_ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void) -> any EngineOperation {
        engine.browse(query, reporting: reporting)
    }

    func browseTypes(_ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void) -> any EngineOperation {
        engine.browseTypes(query, reporting: reporting)
    }

    func browseDomains(
        _ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation {
        engine.browseDomains(query, reporting: reporting)
    }

    func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        engine.publish(service, onConflict: onConflict, isPersistent: isPersistent, reporting: reporting)
    }

    func shutdown() async -> Bool { await engine.shutdown() }
}
