import DNSSD
import Discovery
import Glibc
import Testing

/// Random facts at random times: `Catalog` must report the same changes as a naive recomputation, at the same times.
@Suite struct CatalogRandomTests {
    /// Of each kind in a change (`make test-all`).
    private static let seeds: Range<UInt64> = 0..<(getenv("TEST_ALL") == nil ? 4 : 16)

    @Test(arguments: seeds) func equalsNaiveRecomputation(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let resolves = seed % 4 != 0
        var limits = DiscoveryLimits()
        limits.changeInterval = .zero
        var catalog = Catalog(try typeQuery(resolves ? .watch : .none), limits: limits)
        var naive = NaiveCatalog(resolves: resolves)
        var view = View()
        var now = Duration.zero
        var facts = FactSource()
        naive.apply(.backend(.up), now: now)
        view.take(catalog.apply(.backend(.up), now: now))
        for _ in 0..<200 {
            // Mostly bursts; sometimes pauses in which every hold expires.
            let isPause = Int.random(in: 0..<10, using: &generator) == 0
            for _ in 0..<Int.random(in: 0...(isPause ? 20 : 12), using: &generator) {
                now += isPause ? .milliseconds(200) : .milliseconds(10)
                naive.step(now)
                // Like the real alarm: only when the catalog has asked for it.
                if let deadline = catalog.nextDeadline, deadline <= now { view.take(catalog.tick(now: now)) }
                guard view.services == naive.told else {
                    Issue.record("at \(now): \(view.services) instead of \(naive.told)")
                    return
                }
            }
            var news = [try facts.next(&generator)]
            if Bool.random(using: &generator) {
                // As engines report it: what appears is often resolved at once.
                if case .appeared(let seen) = news[0], case .link(let interface) = seen.origin {
                    news.append(.resolved(try resolution(seen.instance.name.text, interface, ["10.0.0.1"])))
                } else {
                    news.append(try facts.next(&generator))
                }
            }
            for fact in news { naive.apply(fact, now: now) }
            view.take(catalog.apply(news, now: now))
            guard view.services == naive.told else {
                Issue.record("at \(now) after \(news): \(view.services) instead of \(naive.told)")
                return
            }
            #expect(Set(catalog.snapshot) == Set(view.services.values))
        }
        #expect(view.isSettled == catalog.isSettled)
        #expect(view.told > 20, "too little happened for this to mean anything")
    }
}

/// A subscriber's view of the changes; each change is checked against the previous state.
private struct View {
    var services: [ServiceInstance: DiscoveredService] = [:]
    var isSettled = false
    var told = 0

    mutating func take(_ changes: [Change<DiscoveredService>]) {
        told += changes.count
        for change in changes {
            switch change {
            case .found(let service):
                #expect(services[service.instance] == nil, "found twice")
                services[service.instance] = service
            case .changed(let service):
                #expect(services[service.instance] != nil && services[service.instance] != service, "no change")
                services[service.instance] = service
            case .lost(let service):
                #expect(services.removeValue(forKey: service.instance) == service, "lost as it was not known")
            case .settled:
                #expect(!isSettled, "settled twice")
                isSettled = true
            case .backend(.recovered): isSettled = false
            case .backend, .degraded: break
            }
        }
    }
}

/// Facts about three services on three interfaces.
private struct FactSource {
    private var isUp = true

    mutating func next(_ generator: inout SeededGenerator) throws -> BrowseFact {
        let name = ["a", "b", "c"].randomElement(using: &generator) ?? "a"
        let interface = [eth0, eth1, lo].randomElement(using: &generator) ?? eth0
        let family = IPAddress.Family.allCases.randomElement(using: &generator) ?? .ipv4
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<35: return .appeared(try sighting(name, interface, family))
        case 35..<40: return .hidden(try sighting(name, interface, family))
        case 40..<46: return .withdrawn(try sighting(name, interface, family))
        case 46..<60: return .disappeared(try sighting(name, interface, family))
        case 60..<88:
            let addresses = ["10.0.0.1", "10.0.0.2", "fe80::1%2"].filter { _ in Bool.random(using: &generator) }
            return .resolved(
                try resolution(
                    name,
                    interface,
                    host: Int.random(in: 0..<10, using: &generator) == 0 ? "h2.local" : "h1.local",
                    port: Int.random(in: 0..<10, using: &generator) == 0 ? 0 : 9000,
                    addresses
                )
            )
        case 88..<92: return .resolutionFailed(try instance(name), .link(interface))
        case 92..<95: return .listed
        default:
            isUp.toggle()
            return .backend(isUp ? .up : .down("away"))
        }
    }
}
