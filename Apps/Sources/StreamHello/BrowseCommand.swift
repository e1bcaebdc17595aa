import AppSupport
import ArgumentParser
import CommandFrame
import DNSSD
import Discovery
import DiscoveryNIO

struct BrowseCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse", abstract: "Follows the servers as they come and go, and greets each.")

    @Flag(name: .long, help: "Only list them.")
    var listOnly = false

    @Option(
        name: .long, help: ArgumentHelp("End after so many were greeted.", valueName: "n"), transform: Parsing.count)
    var count: Int?

    @OptionGroup var limit: AnswerOptions
    @OptionGroup var options: AppOptions

    func validate() throws {
        if listOnly && count != nil { throw ValidationError("--list-only and --count exclude each other.") }
    }

    func run(in app: App) async throws {
        let type = try ServiceType(Hello.type)
        let network = try app.network()
        let events = BrowserEvents(app: app)
        events.willSearch(type)
        do {
            try await withThrowingTaskGroup { group in
                group.addTask { try await followDomains(network, events) }
                try await followServices(type, network, events, app)
                group.cancelAll()
            }
            events.didStop()
        } catch {
            if app.stop.isRequested { events.didStop() } else { events.didNotSearch(error) }
            throw error
        }
    }

    private func followDomains(_ network: LocalNetwork, _ events: BrowserEvents) async throws {
        var domains = network.domains(DomainQuery(.browsing, interfaces: options.interfaces)).makeAsyncIterator()
        while let batch = try await domains.nextBatch(atMost: 64) {
            for (index, event) in batch.enumerated() {
                let isMoreComing = index + 1 < batch.count
                if case .found(let domain) = event { events.domain("found", domain, isMoreComing) }
                if case .lost(let domain) = event { events.domain("removed", domain, isMoreComing) }
            }
        }
    }

    private func followServices(
        _ type: ServiceType, _ network: LocalNetwork, _ events: BrowserEvents, _ app: App
    ) async throws {
        var greeted = 0
        var services = network.browse(type, on: options.interfaces).makeAsyncIterator()
        while let batch = try await services.nextBatch(atMost: 64) {
            for (index, event) in batch.enumerated() {
                let isMoreComing = index + 1 < batch.count
                switch event {
                case .found(let service):
                    events.service("found", service, isMoreComing)
                    guard !listOnly else { continue }
                    if await greet(service, network, app) { greeted += 1 }
                    if let count, greeted >= count { return }
                case .lost(let service): events.service("removed", service, isMoreComing)
                case .changed, .settled, .degraded: continue
                case .backend(let state): app.observe(state)
                }
            }
        }
    }

    /// Greets one server; continues with the others if it does not answer.
    private func greet(_ service: DiscoveredService, _ network: LocalNetwork, _ app: App) async -> Bool {
        do {
            let (stream, _) = try await network.connect(to: .service(service)) { ByteStream.wrap($0) }
            try await HelloClient.greet(app, stream, within: limit.timeout)
            return true
        } catch {
            if !Task.isCancelled { app.notices.notice("\(service.instance.name): \(error)") }
            return false
        }
    }
}
