import DNSSD
import Discovery
import DiscoveryControl
import DiscoveryDaemon
import DiscoveryJSON
import DiscoverySystem
import DiscoveryTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct RemoteEngineConformanceTests {
    @Test(arguments: EngineConformance.checks) func conforms(_ check: EngineConformance.Check) async throws {
        let network = SimulatedNetwork()
        // Another port is a new publication, which a busy machine may be slow to take: what ends is held as long as for users.
        var held = TestDaemon.limits
        held.removalHold = DiscoveryLimits().removalHold
        let one = try await TestDaemon(engine: try network.addMachine("h1"), discovery: held)
        let two = try await TestDaemon(engine: try network.addMachine("h2"), discovery: held)
        let (publisher, browser) = (RemoteEngine(path: one.path), RemoteEngine(path: two.path))
        var limits = browser.limits(in: .local)
        limits.removalHold = held.removalHold
        try await check.run(
            EngineConformance.Environment(
                publisher: publisher,
                browser: browser,
                limits: limits,
                browserBackend: EngineConformance.Backend(of: "h2", in: network),
                publisherBackend: EngineConformance.Backend(of: "h1", in: network),
                // Each is a connection, and the daemon grants a user only a few.
                crowd: 8,
                openObjects: { publisher.openOperations + browser.openOperations }
            )
        )
        await one.stopAndRemove()
        await two.stopAndRemove()
    }

    @Test func anotherTextRecordIsNoEndForOthersAndIsKept() async throws {
        let network = SimulatedNetwork()
        // Tells an end at once.
        var limits = TestDaemon.limits
        limits.removalHold = .zero
        let other = LocalNetwork(engine: try network.addMachine("h2"), limits: limits)
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let remote = LocalNetwork(engine: RemoteEngine(path: daemon.path))
        let own = remote.publish(
            try OfferedService(name: "own", type: "_xx._tcp", port: 2, txt: try TXTRecord(["v": "1"])))
        _ = try await own.established()
        var services = other.browse(try ServiceType("_xx._tcp")).makeAsyncIterator()
        func untilText(_ text: String) async throws {
            while let event = try await services.next() {
                if case .lost = event { Issue.record("\(event)") }
                if case .found(let service) = event, service.txt.text(for: "v") == text { return }
                if case .changed(let service) = event, service.txt.text(for: "v") == text { return }
            }
        }
        try await untilText("1")
        for number in 2...4 { #expect(await own.update(txt: try TXTRecord(["v": "\(number)"]))) }
        try await untilText("4")
        // The next daemon is given what the last one had.
        await daemon.stop()
        let again = try await TestDaemon(engine: try network.addMachine("h3"), directory: daemon.directory)
        for await status in own.updates where status.state == .established { break }
        var later = other.browse(try ServiceType("_xx._tcp")).makeAsyncIterator()
        while let event = try await later.next() {
            if case .found(let service) = event, service.host?.description.hasPrefix("h3") == true {
                #expect(service.txt.text(for: "v") == "4")
                break
            }
        }
        await own.withdraw()
        await again.stopAndRemove()
    }

    @Test(
        "a TXT record that the daemon refuses is told; the one before stays, and the next counts",
        .timeLimit(.minutes(5)))
    func refusedTextRecord() async throws {
        let network = SimulatedNetwork()
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let (facts, continuation) = AsyncStream<PublicationFact>.makeStream()
        let engine = RemoteEngine(path: daemon.path)
        let operation = engine.publish(
            try OfferedService(name: "own", type: "_xx._tcp", port: 2, txt: ["v": "1"]), onConflict: .rename,
            isPersistent: false
        ) { continuation.yield($0) }
        let registry = daemon.daemon.registry
        func published() async -> [TXTRecord?] {
            var all: [TXTRecord?] = []
            for status in await registry.statuses {
                all.append(await registry.registration(status.id)?.request.service.txt)
            }
            return all
        }
        for await fact in facts where fact.state == .established { break }
        // The library's own check would have refused it before.
        #expect(operation.update(txt: ["": "no key"]))
        for await fact in facts {
            guard case .refused(let error) = fact.state else { continue }
            #expect(error.code == .invalidTXTRecord)
            break
        }
        #expect(await published() == [["v": "1"]])
        #expect(operation.update(txt: ["v": "2"]))
        for await fact in facts where fact.state == .established { break }
        #expect(await published() == [["v": "2"]])
        // Back to the one that stayed: it is no longer refused.
        #expect(operation.update(txt: ["": "no key"]))
        for await fact in facts {
            if case .refused = fact.state { break }
        }
        #expect(operation.update(txt: ["v": "2"]))
        for await fact in facts where fact.state == .established { break }
        #expect(await published() == [["v": "2"]])
        operation.cancel()
        await engine.shutdown()
        await daemon.stopAndRemove()
    }

    @Test func aDaemonGoesAndComesBackAndNothingIsLost() async throws {
        let network = SimulatedNetwork()
        let machine = try network.addMachine("h1")
        let other = LocalNetwork(engine: try network.addMachine("h2"), limits: TestDaemon.limits)
        let daemon = try await TestDaemon(engine: machine)
        let remote = LocalNetwork(engine: RemoteEngine(path: daemon.path))
        let staying = other.publish(try OfferedService(name: "staying", type: "_xx._tcp", port: 1))
        let own = remote.publish(try OfferedService(name: "own", type: "_xx._tcp", port: 2))
        _ = try await staying.established()
        _ = try await own.established()
        var events: [String] = []
        var iterator = remote.browse(try ServiceType("_xx._tcp")).makeAsyncIterator()
        while !events.contains("settled"), let event = try await iterator.next() { events.append(event.summary) }
        #expect(Set(events) == ["available", "+staying", "+own", "settled"])
        await daemon.stop()
        while let event = try await iterator.next(), event.summary != "lost" {}
        let again = try await TestDaemon(engine: try network.addMachine("h3"), directory: daemon.directory)
        // The publishing command is still running, so its service comes back: on a connection of its own, before the other or after it.
        var later: Set<String> = []
        while !later.contains("recovered") || later.isDisjoint(with: ["+own", "~own"]),
            let event = try await iterator.next()
        { later.insert(event.summary) }
        #expect(!later.contains("-staying"))
        await own.withdraw()
        await again.stopAndRemove()
    }

    @Test func withoutTheDaemonQueriesGoOnAndNothingEndsForThat() async throws {
        let network = SimulatedNetwork()
        let other = LocalNetwork(engine: try network.addMachine("h2"), limits: TestDaemon.limits)
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let own = try network.addMachine("h3")
        let engine = RemoteEngine(
            path: daemon.path, otherwise: { nil }, patience: .milliseconds(300), withoutDaemon: { own })
        let remote = LocalNetwork(engine: engine)
        let type = try ServiceType("_xx._tcp")
        let staying = other.publish(try OfferedService(name: "staying", type: "_xx._tcp", port: 1))
        _ = try await staying.established()
        var services = remote.browse(type).makeAsyncIterator()
        var types = remote.types().makeAsyncIterator()
        while let event = try await services.next(), event != .settled {}
        while let event = try await types.next(), event != .settled {}
        await daemon.stop()
        var events: [String] = []
        while events.last != "recovered", let event = try await services.next() { events.append(event.summary) }
        #expect(events == ["lost", "recovered"])
        // What comes and goes is told as before, and new questions do not wait.
        let late = other.publish(try OfferedService(name: "late", type: "_xx._tcp", port: 2))
        while let event = try await services.next(), event.summary != "+late" { #expect(event.summary != "-staying") }
        let another = other.publish(try OfferedService(name: "another", type: "_yy._tcp", port: 3))
        while let event = try await types.next() {
            if case .lost = event { Issue.record("\(event)") }
            if case .found(let type, _, _) = event, type.description == "_yy._tcp" { break }
        }
        await another.withdraw()
        var again = remote.browse(type).makeAsyncIterator()
        while let event = try await again.next(), event.summary != "+staying" { #expect(event.summary != "lost") }
        await staying.withdraw()
        while let event = try await services.next(), event.summary != "-staying" {}
        await late.withdraw()
        await remote.shutdown()
        #expect(engine.openOperations == 0 && network.openOperations(of: "h3") == 0)
        await daemon.stopAndRemove()
    }

    @Test func whatCannotTakeTheDaemonsPlaceAtFirstIsAskedForAgain() async throws {
        let network = SimulatedNetwork()
        let other = LocalNetwork(engine: try network.addMachine("h2"))
        let own = try network.addMachine("h3")
        let staying = other.publish(try OfferedService(name: "staying", type: "_xx._tcp", port: 1))
        _ = try await staying.established()
        let calls = Locked(0)
        let engine = RemoteEngine(
            path: "/nowhere", patience: .milliseconds(100),
            withoutDaemon: {
                let isFirst = calls.withLock { calls in
                    calls += 1
                    return calls == 1
                }
                return isFirst ? nil : own
            })
        let remote = LocalNetwork(engine: engine)
        var services = remote.browse(try ServiceType("_xx._tcp")).makeAsyncIterator()
        while let event = try await services.next(), event.summary != "+staying" {}
        #expect(calls.withLock { $0 } == 2)
        await staying.withdraw()
        await remote.shutdown()
    }

    @Test func whatTheDaemonsBackendRefusesIsGivenUpOnlyWhenItIsNew() async throws {
        let network = SimulatedNetwork()
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let remote = LocalNetwork(engine: RemoteEngine(path: daemon.path))
        let old = remote.publish(try OfferedService(name: "old", type: "_xx._tcp", port: 1))
        _ = try await old.established()
        let forbidden = DiscoveryError(.notPermitted, "forbidden")
        network.setRefusal(of: "h1", to: forbidden)
        let new = remote.publish(try OfferedService(name: "new", type: "_xx._tcp", port: 2))
        let error = await #expect(throws: DiscoveryError.self) { try await new.established() }
        #expect(error == forbidden)
        network.stopBackend(of: "h1")
        network.startBackend(of: "h1")
        for await status in old.updates where status.state == .refused(forbidden) { break }
        // Nor with another daemon, which never saw the service established.
        await daemon.stop()
        for await status in old.updates { if case .waiting = status.state { break } }
        let engine = try network.addMachine("h3")
        network.setRefusal(of: "h3", to: forbidden)
        let again = try await TestDaemon(engine: engine, directory: daemon.directory)
        for await status in old.updates where status.state == .refused(forbidden) { break }
        network.setRefusal(of: "h3", to: nil)
        _ = try await old.established()
        await old.withdraw()
        await again.stopAndRemove()
    }

    @Test func whatNoConnectionIsLeftForIsPublishedByAnotherEngine() async throws {
        let network = SimulatedNetwork()
        var limits = ConnectionTable.Limits()
        (limits.perUser, limits.forRoot) = (2, 2)
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"), limits: limits)
        let other = try network.addMachine("h2")
        let calls = Locked(0)
        let engine = RemoteEngine(path: daemon.path) {
            calls.withLock { $0 += 1 }
            return other
        }
        let remote = LocalNetwork(engine: engine)
        var all: [Publication] = []
        for number in 1...4 {
            let one = remote.publish(try OfferedService(name: "s\(number)", type: "_xx._tcp", port: 9))
            _ = try await one.established()
            all.append(one)
        }
        #expect(calls.withLock { $0 } == 1 && network.openOperations(of: "h2") >= 2)
        for one in all { await one.withdraw() }
        #expect(network.openOperations(of: "h2") == 0)
        await remote.shutdown()
        await daemon.stopAndRemove()
    }

    @Test func whatIsGivenUpIsNotAskedForAgain() async throws {
        let network = SimulatedNetwork()
        let other = LocalNetwork(engine: try network.addMachine("h1"))
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"))
        let remote = LocalNetwork(engine: RemoteEngine(path: daemon.path))
        let taken = other.publish(try OfferedService(name: "taken", type: "_xx._tcp", port: 1))
        _ = try await taken.established()
        let refused = remote.publish(try OfferedService(name: "taken", type: "_xx._tcp", port: 2), onConflict: .fail)
        await #expect(throws: DiscoveryError.self) { try await refused.established() }
        // The owner of a command's service, or root, withdraws it while the command runs.
        let unwanted = remote.publish(try OfferedService(name: "unwanted", type: "_xx._tcp", port: 3))
        _ = try await unwanted.established()
        for status in await daemon.daemon.registry.statuses where status.name == "unwanted" {
            _ = try await daemon.client.send(ControlClient.Request("DELETE", "/v1/registrations/\(status.id)"))
        }
        await taken.withdraw()
        for status in await daemon.daemon.registry.statuses { await daemon.daemon.registry.untilWithdrawn(status.id) }
        #expect(await daemon.daemon.registry.statuses.isEmpty)
        // What is given up would be requested again before what loses its daemon later: each after 100 ms, by the same clock.
        let wanted = remote.publish(try OfferedService(name: "wanted", type: "_xx._tcp", port: 4))
        _ = try await wanted.established()
        await daemon.stop()
        let again = try await TestDaemon(engine: try network.addMachine("h3"), directory: daemon.directory)
        for try await event in other.browse(try ServiceType("_xx._tcp")) {
            if case .found(let service) = event, service.host?.description.hasPrefix("h3") == true { break }
        }
        #expect(await again.daemon.registry.statuses.map(\.name) == ["wanted"])
        withExtendedLifetime((refused, unwanted)) {}
        await wanted.withdraw()
        await again.stopAndRemove()
    }

    @Test func manyTypesShareOneStream() async throws {
        let network = SimulatedNetwork()
        let machine = LocalNetwork(engine: try network.addMachine("h1"))
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"))
        let remote = LocalNetwork(engine: RemoteEngine(path: daemon.path))
        var publications: [Publication] = []
        for number in 0..<30 {
            publications.append(machine.publish(try OfferedService(name: "s", type: "_t\(number)._tcp", port: 1)))
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
