import DNSSD
import Discovery
import DiscoveryLifecycle
import DiscoveryTesting
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@Suite("AdvertisedService in a real ServiceGroup", .timeLimit(.minutes(1)))
struct AdvertisedServiceTests {
    private let link = SimulatedNetwork()
    private let server: LocalNetwork
    private let client: LocalNetwork
    private let web: OfferedService

    init() throws {
        server = LocalNetwork(engine: try link.addMachine("server"))
        client = LocalNetwork(engine: try link.addMachine("client"))
        web = try OfferedService(name: "web", type: "_http._tcp", port: 8080)
    }

    private func group(_ services: [any Service]) -> ServiceGroup {
        ServiceGroup(services: services, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Waits for the next event that is about a service.
    private func next(_ events: inout ServiceEvents.AsyncIterator) async throws -> String? {
        while let event = try await events.next() {
            switch event {
            case .found(let service): return "+\(service.instance.name)"
            case .lost(let service): return "-\(service.instance.name)"
            default: continue
            }
        }
        return nil
    }

    @Test func itIsPublishedWhileTheGroupRuns() async throws {
        let group = group([server, AdvertisedService(web, on: server)])
        async let running: Void = group.run()
        var events = client.browse(web.type).makeAsyncIterator()
        #expect(try await next(&events) == "+web")
        await group.triggerGracefulShutdown()
        try await running
        #expect(link.openOperations(of: "server") == 0)
        #expect(try await next(&events) == "-web")
    }

    @Test func itIsWithdrawnWhileItIsNotHealthy() async throws {
        let health = Health()
        let check = HealthCheck(every: .milliseconds(100), rise: 1, fall: 2) { health.isUp.withLock { $0 } }
        let group = group([server, AdvertisedService(web, on: server, whileHealthy: check)])
        async let running: Void = group.run()
        var events = client.browse(web.type).makeAsyncIterator()
        #expect(try await next(&events) == "+web")
        health.isUp.withLock { $0 = false }
        #expect(try await next(&events) == "-web")
        health.isUp.withLock { $0 = true }
        #expect(try await next(&events) == "+web")
        await group.triggerGracefulShutdown()
        try await running
        #expect(link.openOperations(of: "server") == 0)
    }

    @Test func aCheckThatNeverAnswersHasFailed() async throws {
        let check = HealthCheck(every: .milliseconds(100), limit: .milliseconds(100)) {
            try await Task.sleep(for: .seconds(1000))
            return true
        }
        let advertised = AdvertisedService(web, on: server, whileHealthy: check)
        let group = group([server, advertised])
        async let running: Void = group.run()
        let found = try? await client.resolve(web.instance, within: .milliseconds(500))
        #expect(found == nil)
        await group.triggerGracefulShutdown()
        try await running
    }

    @Test func aTakenNameEndsItWhenAsked() async throws {
        let other = client.publish(web)
        _ = try await other.established()
        await #expect(throws: DiscoveryError.self) {
            try await group([AdvertisedService(web, on: server, onConflict: .fail)]).run()
        }
        withExtendedLifetime(other) {}
    }

    @Test func withoutABackendItWaits() async throws {
        link.stopBackend(of: "server")
        let group = group([server, AdvertisedService(web, on: server)])
        async let running: Void = group.run()
        var events = client.browse(web.type).makeAsyncIterator()
        link.startBackend(of: "server")
        #expect(try await next(&events) == "+web")
        await group.triggerGracefulShutdown()
        try await running
    }
}

private final class Health: Sendable { let isUp = Mutex(true) }
