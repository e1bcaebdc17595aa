import DNSSD
import Discovery
import DiscoveryTesting
import Synchronization
import Testing

/// A simulated network whose machines hear each other late, in part or not at all, by script and in virtual time.
@Suite struct NetworkScriptTests {
    private let type: ServiceType

    init() throws { type = try ServiceType("_http._tcp") }

    /// When each service was heard of first, in seconds.
    private final class Heard: Sendable {
        private let times = Mutex<[String: Duration]>([:])
        var all: [String: Duration] { times.withLock { $0 } }

        func browse(_ type: ServiceType, _ engine: SimulatedEngine, _ time: TestTime) -> any EngineOperation {
            engine.browse(ServiceQuery(.type(type, .local))) { facts in
                for case .appeared(let sighting) in facts {
                    self.times.withLock { times in
                        if times[sighting.instance.name.text] == nil { times[sighting.instance.name.text] = time.now }
                    }
                }
            }
        }
    }

    private func publish(
        _ name: String, _ engine: SimulatedEngine, _ report: @escaping @Sendable (PublicationFact) -> Void = { _ in }
    )
        throws -> any PublicationOperation
    {
        engine.publish(
            try OfferedService(name: name, type: "_http._tcp", port: 80), onConflict: .rename, isPersistent: false,
            reporting: report)
    }

    @Test("what others say is heard after the delay, on the machine that has one; one's own at once")
    func delay() throws {
        let network = SimulatedNetwork(delivery: .byHand)
        let (server, client, near) = (
            try network.addMachine("server"), try network.addMachine("client"), try network.addMachine("near")
        )
        network.setDelay(.milliseconds(200))
        network.setDelay(.zero, of: "near")
        let (far, own, quick) = (Heard(), Heard(), Heard())
        let operations = [
            far.browse(type, client, network.time), own.browse(type, server, network.time),
            quick.browse(type, near, network.time),
        ]
        let publication = try publish("shop", server)
        network.advance(by: .milliseconds(199))
        #expect(far.all.isEmpty && own.all == ["shop": .zero] && quick.all == ["shop": .zero])
        network.advance(by: .milliseconds(1))
        #expect(far.all == ["shop": .milliseconds(200)])
        withExtendedLifetime((operations, publication)) {}
    }

    /// When a client hears of 200 services of which 30 % is lost.
    private func heard(seed: UInt64) throws -> [String: Duration] {
        let network = SimulatedNetwork(delivery: .byHand, seed: seed)
        let (server, client) = (try network.addMachine("server"), try network.addMachine("client"))
        network.setLoss(0.3)
        let publications = try (0..<200).map { try publish("s\($0)", server) }
        let log = Heard()
        let operation = log.browse(type, client, network.time)
        network.advance(by: .seconds(729))
        withExtendedLifetime((operation, publications)) {}
        return log.all
    }

    @Test("what is lost is heard when it is asked for again; the same seed loses the same")
    func loss() throws {
        let times = try heard(seed: 7)
        #expect(times.count == 200)
        #expect(Set(times.values).isSubset(of: [0, 1, 3, 9, 27, 81, 243, 729].map { .seconds($0) }))
        #expect((110...170).contains(times.values.count { $0 == .zero }), "\(times.values.count { $0 == .zero })")
        #expect(try heard(seed: 7) == times)
        #expect(try heard(seed: 8) != times)
    }

    @Test("goodbyes are late, too, and never before what they end")
    func order() throws {
        for seed in UInt64(0)..<50 {
            let network = SimulatedNetwork(delivery: .byHand, seed: seed)
            let (server, client) = (try network.addMachine("server"), try network.addMachine("client"))
            network.setLoss(0.8)
            let log = Mutex<[String]>([])
            let operation = client.browse(ServiceQuery(.type(type, .local))) { facts in
                for fact in facts {
                    switch fact {
                    case .appeared(let sighting) where sighting.family == .ipv4: log.withLock { $0.append("+") }
                    case .disappeared(let sighting) where sighting.family == .ipv4: log.withLock { $0.append("-") }
                    default: break
                    }
                }
            }
            for _ in 0..<3 {
                let publication = try publish("shop", server)
                network.advance(by: .seconds(2))
                publication.cancel()
                network.advance(by: .seconds(2))
            }
            network.advance(by: .seconds(1000))
            let told = log.withLock { $0.joined() }
            #expect(told == String(repeating: "+-", count: told.count / 2), "seed \(seed): \(told)")
            operation.cancel()
        }
    }

    @Test("a script: a name that is taken, a partition, and its end, each at its time")
    func script() async throws {
        let network = SimulatedNetwork(delivery: .byHand)
        let (server, client) = (try network.addMachine("server"), try network.addMachine("client"))
        let names = Mutex<[String]>([])
        let publication = try publish("tony", server) { fact in
            if fact.state == .established { names.withLock { $0.append(fact.name.text) } }
        }
        let log = Mutex<[String]>([])
        let operation = client.browse(ServiceQuery(.type(type, .local))) { [time = network.time] facts in
            for fact in facts {
                switch fact {
                case .appeared(let sighting) where sighting.family == .ipv4:
                    log.withLock { $0.append("\(time.now.components.seconds) +\(sighting.instance.name)") }
                case .disappeared(let sighting) where sighting.family == .ipv4:
                    log.withLock { $0.append("\(time.now.components.seconds) -\(sighting.instance.name)") }
                default: break
                }
            }
        }
        let taken = ServiceInstance(name: try ServiceName("tony"), type: type, domain: .local)
        network.play([
            .init(at: .seconds(30), .heal), .init(at: .seconds(10), .conflict(taken)),
            .init(at: .seconds(20), .partition([["server"], ["client"]])),
        ])
        network.advance(by: .seconds(60))
        #expect(names.withLock { $0 } == ["tony", "tony #2"])
        #expect(log.withLock { $0 } == ["0 +tony", "10 -tony", "10 +tony #2", "20 -tony #2", "30 +tony #2"])
        withExtendedLifetime((operation, publication)) {}
    }

    @Test("the library's own waiting is on the same clock: a restart within it is no end")
    func clock() async throws {
        let network = SimulatedNetwork(delivery: .byHand)
        let server = LocalNetwork(engine: try network.addMachine("server"), time: network.time)
        let client = LocalNetwork(engine: try network.addMachine("client"), time: network.time)
        let publication = server.publish(try OfferedService(name: "shop", type: "_http._tcp", port: 8080))
        network.deliver()
        var events = client.browse(type).makeAsyncIterator()
        network.deliver()
        #expect(try await events.next() == .backend(.available))
        guard case .found(let shop) = try await events.next() else {
            Issue.record("nothing was found")
            return
        }
        #expect(try await events.next() == .settled)
        network.play([
            .init(at: .seconds(1), .backend(of: "server", isUp: false)),
            .init(at: .seconds(2), .backend(of: "server", isUp: true)),
            .init(at: .seconds(10), .partition([["server"], ["client"]])),
        ])
        network.advance(by: .seconds(11))
        network.advance(by: .seconds(4))
        #expect(try await events.next() == .lost(shop))
        withExtendedLifetime(publication) {}
    }
}
