import DNSSD
import Discovery
import DiscoverySystem
import DiscoveryTesting
import Testing

@Suite struct ObserverTests {
    private let world = SimulatedNetwork(delivery: .byHand)
    private let time = TestTime()
    private let log = ObservationLog()
    private let publisher: LocalNetwork
    private let browser: LocalNetwork

    init() throws {
        publisher = LocalNetwork(engine: try world.addMachine("h1"), time: time, observer: log)
        browser = LocalNetwork(engine: try world.addMachine("h2"), time: time, observer: log)
    }

    private func service(_ name: String) throws -> OfferedService {
        OfferedService(name: try ServiceName(name), type: try instance(name).type, port: try Port(9000))
    }

    @Test func aQueryIsObservedOnceHoweverManyAskIt() throws {
        let type = try ServiceType("_witap._tcp")
        do {
            let first = browser.browse(type).makeAsyncIterator()
            let second = browser.browse(type).makeAsyncIterator()
            world.deliver()
            withExtendedLifetime((first, second)) {}
        }
        #expect(log.words == ["opened", "event backend", "event settled", "closed"])
    }

    @Test func everyEventOfAQueryIsObserved() async throws {
        let events = browser.browse(try ServiceType("_witap._tcp")).makeAsyncIterator()
        world.deliver()
        let publication = publisher.publish(try service("tony"))
        world.deliver()
        await publication.withdraw()
        world.deliver()
        time.advance(by: .seconds(4))
        // Looks at the clock before the alarm does.
        browser.directory.services.amendAll { $0.tick(now: $1) }
        await browser.shutdown()
        withExtendedLifetime(events) {}
        let words = log.words.filter { $0.hasPrefix("event ") && $0 != "event backend" || $0 == "closed" }
        #expect(words == ["event settled", "event +tony", "event -tony", "closed"])
    }

    @Test func aPublicationIsObservedFromItsNameToItsEnd() async throws {
        let first = publisher.publish(try service("tony"))
        world.deliver()
        let second = browser.publish(try service("tony"))
        world.deliver()
        await second.withdraw()
        #expect(log.words.suffix(2) == ["tony as tony #2 established", "tony as tony #2 withdrawn"])
        #expect(log.words.first == "tony as tony established")
        withExtendedLifetime(first) {}
    }

    @Test func resolvingIsObservedInTheTaskThatAsked() async throws {
        let resolving = Task { [browser] in
            await ObservationLog.$caller.withValue("me") {
                _ = try? await browser.resolve(try instance("nobody"), within: .seconds(5))
            }
        }
        await time.sleeper(until: .seconds(5))
        time.advance(by: .seconds(5))
        await resolving.value
        #expect(log.words.contains("resolved nobody for me: timed-out after 5.0 seconds"))
    }

    @Test func connectingIsObservedWithItsReport() async throws {
        let target = ConnectTarget.service(DiscoveredService(instance: try instance("tony")))
        let connector = Connector(
            network: browser, dialer: FakeDialer(), localAddresses: { LocalAddresses(entries: []) },
            routes: { NoRoutes() })
        _ = await connector.establish(target)
        #expect(log.words.last == "connected tony with 0 attempts: unreachable")
    }

    @Test func severalObserversReceiveEverything() throws {
        let (one, other) = (ObservationLog(), ObservationLog())
        DiscoveryObservers(one, other).observed(.queryOpened(ServiceQuery(.instance(try instance("tony")))))
        #expect(one.words == ["opened"] && other.words == ["opened"])
    }
}

/// Writes observations down as words.
private final class ObservationLog: DiscoveryObserver {
    @TaskLocal static var caller = "no one"

    private let list = Locked<[String]>([])

    var words: [String] { list.withLock { $0 } }

    func observed(_ observation: DiscoveryObservation) {
        let word =
            switch observation {
            case .queryOpened: "opened"
            case .queryClosed: "closed"
            case .event(.found(let service), _): "event +\(service.instance.name)"
            case .event(.changed(let service), _): "event ~\(service.instance.name)"
            case .event(.lost(let service), _): "event -\(service.instance.name)"
            case .event(.settled, _): "event settled"
            case .event(.backend, _): "event backend"
            case .event(.degraded, _): "event degraded"
            case .publication(let service, let status): "\(service.name) as \(status.name) \(status.state)"
            case .resolved(let instance, let result, let took):
                "resolved \(instance.name) for \(Self.caller): \(Self.outcome(result)) after \(took)"
            case .connected(let target, let report, let error):
                "connected \(Self.name(target)) with \(report.attempts.count) attempts: \(error?.code.description ?? "yes")"
            }
        list.withLock { $0.append(word) }
    }

    private static func outcome(_ result: Result<DiscoveredService, DiscoveryError>) -> String {
        switch result {
        case .success: "found"
        case .failure(let error): error.code.description
        }
    }

    private static func name(_ target: ConnectTarget) -> String {
        if case .service(let service) = target { service.instance.name.description } else { "another" }
    }
}
