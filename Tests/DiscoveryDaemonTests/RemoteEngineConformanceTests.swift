import DNSSD
import Discovery
import DiscoveryControl
import DiscoveryDaemon
import DiscoveryTesting
import Testing

@Suite struct RemoteEngineConformanceTests {
    @Test(arguments: EngineConformance.checks) func conforms(_ check: EngineConformance.Check) async throws {
        let network = SimulatedNetwork()
        let one = try await TestDaemon(engine: try network.addMachine("h1"))
        let two = try await TestDaemon(engine: try network.addMachine("h2"))
        let (publisher, browser) = (RemoteEngine(path: one.path), RemoteEngine(path: two.path))
        var limits = RemoteEngine.limits
        limits.removalHold = .milliseconds(30)
        try await check.run(
            EngineConformance.Environment(
                publisher: publisher,
                browser: browser,
                limits: limits,
                restartBrowserBackend: {
                    network.stopBackend(of: "h2")
                    // Long enough for the daemon to say so: what was not told is nothing.
                    while two.daemon.health.state == .available || two.daemon.health.state == .recovered {
                        try await Task.sleep(for: .milliseconds(1))
                    }
                    network.startBackend(of: "h2")
                },
                restartPublisherBackend: {
                    network.stopBackend(of: "h1")
                    try await LocalPublications(one).waitUntilWaiting()
                    network.startBackend(of: "h1")
                },
                openObjects: { publisher.openOperations + browser.openOperations }
            )
        )
        await one.stopAndRemove()
        await two.stopAndRemove()
    }

    @Test func aDaemonGoesAndComesBackAndNothingIsLost() async throws {
        let network = SimulatedNetwork()
        let machine = try network.addMachine("h1")
        let other = LocalNetwork(engine: try network.addMachine("h2"), limits: TestDaemon.limits)
        let daemon = try await TestDaemon(engine: machine)
        let remote = LocalNetwork(engine: RemoteEngine(path: daemon.path), limits: RemoteEngine.limits)
        let staying = other.publish(try Service(name: "staying", type: "_x._tcp", port: 1))
        let own = remote.publish(try Service(name: "own", type: "_x._tcp", port: 2))
        _ = try await staying.established()
        _ = try await own.established()
        var events: [String] = []
        var iterator = remote.browse(try ServiceType("_x._tcp")).makeAsyncIterator()
        while !events.contains("settled"), let event = try await iterator.next() { events.append(event.summary) }
        #expect(Set(events) == ["+staying", "+own", "settled"])
        await daemon.stop()
        while let event = try await iterator.next(), event.summary != "lost" {}
        let again = try await TestDaemon(engine: try network.addMachine("h3"), directory: daemon.directory)
        while let event = try await iterator.next(), event.summary != "recovered" {}
        // The command that published is still there, so its service is again.
        while let event = try await iterator.next(), event.summary != "+own", event.summary != "~own" {
            #expect(event.summary != "-staying")
        }
        await own.withdraw()
        await again.stopAndRemove()
    }

    @Test func whatIsGivenUpIsNotAskedForAgain() async throws {
        let network = SimulatedNetwork()
        let other = LocalNetwork(engine: try network.addMachine("h1"))
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"))
        let remote = LocalNetwork(engine: RemoteEngine(path: daemon.path), limits: RemoteEngine.limits)
        let taken = other.publish(try Service(name: "taken", type: "_x._tcp", port: 1))
        _ = try await taken.established()
        let refused = remote.publish(try Service(name: "taken", type: "_x._tcp", port: 2), onConflict: .fail)
        await #expect(throws: DiscoveryError.self) { try await refused.established() }
        // The owner of a command's service, or root, withdraws it under the command's feet.
        let unwanted = remote.publish(try Service(name: "unwanted", type: "_x._tcp", port: 3))
        _ = try await unwanted.established()
        for status in await daemon.daemon.registry.statuses where status.name == "unwanted" {
            _ = try await daemon.client.send(ControlClient.Request("DELETE", "/v1/registrations/\(status.id)"))
        }
        await taken.withdraw()
        while await !daemon.daemon.registry.statuses.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        // A stream that ended is asked for again after 100 ms, then 200 ms.
        try await Task.sleep(for: .milliseconds(500))
        #expect(await daemon.daemon.registry.statuses.isEmpty)
        withExtendedLifetime((refused, unwanted)) {}
        await daemon.stopAndRemove()
    }

    @Test func manyTypesShareOneStream() async throws {
        let network = SimulatedNetwork()
        let machine = LocalNetwork(engine: try network.addMachine("h1"))
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"))
        let remote = LocalNetwork(engine: RemoteEngine(path: daemon.path), limits: RemoteEngine.limits)
        var publications: [Publication] = []
        for number in 0..<30 {
            publications.append(machine.publish(try Service(name: "s", type: "_t\(number)._tcp", port: 1)))
        }
        for publication in publications { _ = try await publication.established() }
        var found: Set<String> = []
        for try await event in remote.browseAll() {
            if case .found(let service) = event { found.insert(service.instance.type.description) }
            if event == .settled { break }
        }
        #expect(found.count == 30)
        #expect(daemon.daemon.server.clientCount < 8)
        await daemon.stopAndRemove()
    }
}

/// A state that lasts too short to be told is not told, so a restart must last until the command has heard of it.
private struct LocalPublications {
    private let daemon: TestDaemon

    init(_ daemon: TestDaemon) { self.daemon = daemon }

    func waitUntilWaiting() async throws {
        while await !daemon.daemon.registry.statuses.allSatisfy({ $0.state == "waiting" }) {
            try await Task.sleep(for: .milliseconds(1))
        }
        // The line is on its way: one round trip of the same server later it has been sent.
        for _ in 0..<20 { _ = try await daemon.get("/v1/ping") }
    }
}

extension ServiceEvent {
    fileprivate var summary: String {
        switch self {
        case .found(let service): "+\(service.instance.name)"
        case .changed(let service): "~\(service.instance.name)"
        case .lost(let service): "-\(service.instance.name)"
        case .settled: "settled"
        case .backend(.lost): "lost"
        case .backend(.recovered): "recovered"
        case .backend(let state): "\(state)"
        case .degraded(let text): text
        }
    }
}
