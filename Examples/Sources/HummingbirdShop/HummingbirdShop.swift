import DiscoveryLifecycle
import Hummingbird
import Logging
import NetworkServices
import ServiceLifecycle
import Synchronization
import UnixSignals

/// A Hummingbird server that is published while it is healthy: `GET /health/down` withdraws it, `GET /health/up` publishes it again.
@main
struct HummingbirdShop {
    final class Health: Sendable { let isUp = Mutex(true) }

    static func main() async throws {
        let health = Health()
        let router = Router()
        router.get("/") { _, _ in "Hello from Hummingbird\n" }
        router.get("/health/:state") { _, context in
            let state = context.parameters.get("state") ?? ""
            health.isUp.withLock { $0 = state == "up" }
            return "\(state)\n"
        }
        let app = Application(router: router, configuration: .init(address: .hostname("::", port: 8080)))

        let network = try LocalNetwork()
        let shop = try OfferedService(name: "shop", type: "_http._tcp", port: 8080)
        let check = HealthCheck(every: .milliseconds(500)) { health.isUp.withLock { $0 } }
        try await ServiceGroup(
            services: [network, app, AdvertisedService(shop, on: network, whileHealthy: check)],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: app.logger
        ).run()
    }
}
