import DNSSD
import Discovery
import DiscoveryDaemonClient
import DiscoveryJSON
import DiscoveryTesting
import Testing

@Suite struct DaemonClientTests {
    private let network = SimulatedNetwork()

    @Test func aServiceIsHandedOverChangedAndWithdrawn() async throws {
        let other = LocalNetwork(engine: try network.addMachine("h1"))
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"))
        let client = DaemonClient(socket: daemon.path)
        let service = try OfferedService(name: "tony", type: "_xx._tcp", port: 9000, txt: ["v": "1"])
        let one = try await client.register(service)
        #expect(one.instance == service.instance && one.wanted == service.name && one.port == service.port)
        #expect(one.state == .established && one.origin == .detached && one.reason == nil && one.isHealthy == nil)
        #expect(one.description == "tony._xx._tcp.local: established")
        // The same again is the same.
        #expect(try await client.register(service).id == one.id)
        #expect(try await client.registrations() == [one])
        #expect(try await client.update(one.id, txt: ["v": "2"]).id == one.id)
        for try await services in other.services(of: "_xx._tcp") where services.first?.txt["v"] == "2" { break }
        try await client.withdraw(one.id)
        #expect(try await client.registrations().isEmpty)
        let gone = await #expect(throws: DiscoveryError.self) { try await client.withdraw(one.id) }
        #expect(gone?.code == .notFound)
        let unnamed = await #expect(throws: DiscoveryError.self) { try await client.withdraw("") }
        #expect(unnamed?.code == .notFound)
        await daemon.stopAndRemove()
    }

    @Test func aNameThatIsTakenIsAnErrorOrAnotherName() async throws {
        let other = LocalNetwork(engine: try network.addMachine("h1"))
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"))
        let client = DaemonClient(socket: daemon.path)
        let service = try OfferedService(name: "tony", type: "_xx._tcp", port: 9000)
        let held = other.publish(service)
        _ = try await held.established()
        let taken = await #expect(throws: DiscoveryError.self) { try await client.register(service, onConflict: .fail) }
        #expect(taken?.code == .nameTaken)
        let renamed = try await client.register(service)
        #expect(renamed.instance.name.text == "tony #2" && renamed.wanted.text == "tony")
        await daemon.stopAndRemove()
        await held.withdraw()
    }

    @Test func aRefusalNamesItsReason() async throws {
        let daemon = try await TestDaemon(
            engine: try network.addMachine("h2"), refusal: { _, _ in "no rule permits it" })
        let client = DaemonClient(socket: daemon.path)
        let service = try OfferedService(name: "tony", type: "_xx._tcp", port: 9000)
        let refused = await #expect(throws: DiscoveryError.self) { try await client.register(service) }
        #expect(refused?.code == .notPermitted && refused?.message.contains("no rule permits it") == true)
        var broken = service
        broken.txt = ["a": "1", "A": "2"]
        let wrong = await #expect(throws: DiscoveryError.self) { try await client.register(broken) }
        #expect(wrong?.code == .invalidTXTRecord)
        await daemon.stopAndRemove()
    }

    @Test func whatItKnowsIsListedAndWatched() async throws {
        let other = LocalNetwork(engine: try network.addMachine("h1"))
        let type = try ServiceType("_xx._tcp")
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"), browse: [type])
        let client = DaemonClient(socket: daemon.path)
        let one = other.publish(try OfferedService(name: "one", type: "_xx._tcp", port: 1, txt: ["path": "/x"]))
        _ = try await one.established()
        for try await event in client.watch(type) {
            guard case .found(let service) = event else { continue }
            #expect(service.instance.name.text == "one" && service.txt["path"] == "/x")
            break
        }
        #expect(
            try await client.services(of: type).map(\.instance) == [try ServiceInstance(name: "one", type: "_xx._tcp")])
        let attached = client.network()
        let two = attached.publish(try OfferedService(name: "two", type: "_xx._tcp", port: 2))
        #expect(try await two.established().text == "two")
        #expect(try await client.registrations().map(\.origin) == [.attached])
        #expect(await attached.shutdown())
        await daemon.stopAndRemove()
        await one.withdraw()
    }

    @Test func theStatusIsReadInParts() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"))
        let client = DaemonClient(socket: daemon.path)
        let status = try await client.status()
        #expect(status.version == "test" && status.finder.kind == "simulated" && status.publisher.kind == "simulated")
        #expect(status.publisher.state == .available && status.reasons.isEmpty)
        #expect(status.publishRefusal == nil && status.registerRefusal == nil)
        #expect(status.json["limits"]?["clients"]?.integer != nil)
        let refused = await #expect(throws: DiscoveryError.self) { try await client.reload() }
        #expect(refused?.message == "x.yaml:3: no\ny.yaml:1: nor this")
        await daemon.stopAndRemove()
    }

    @Test func withoutADaemonEveryCallSaysSo() async throws {
        let client = DaemonClient(socket: "/nowhere/control.sock")
        let error = await #expect(throws: DiscoveryError.self) { try await client.status() }
        #expect(error?.code == .noDaemon)
        await #expect(throws: DiscoveryError.self) { try await client.services(of: ServiceType("_xx._tcp")) }
    }
}
