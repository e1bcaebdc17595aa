import DNSSD
import Discovery
import DiscoveryTesting
import Synchronization
import Testing

/// Two who want one name in a simulated network: the rules are those of the engine on the wire.
@Suite struct SimulatedConflictTests {
    private let network = SimulatedNetwork(delivery: .byHand)

    /// What a publication was told, in words.
    private final class Told: Sendable {
        private let words = Mutex<[String]>([])
        var all: [String] { words.withLock { $0 } }
        var names: [String] { all.filter { $0.hasPrefix("established ") }.map { String($0.dropFirst(12)) } }

        func tell(_ fact: PublicationFact) {
            let word =
                switch fact.state {
                case .registering: "registering"
                case .established: "established"
                case .waiting: "waiting"
                case .refused: "refused"
                case .conflicted: "conflicted"
                case .failed: "failed"
                default: "other"
                }
            words.withLock { $0.append("\(word) \(fact.name)") }
        }
    }

    private func publish(
        _ engine: SimulatedEngine, _ name: String = "tony", port: Int = 80, onConflict: ConflictPolicy = .rename,
        isPersistent: Bool = false
    ) throws -> (operation: any PublicationOperation, told: Told) {
        let told = Told()
        let service = try OfferedService(name: name, type: "_http._tcp", port: port)
        let operation = engine.publish(service, onConflict: onConflict, isPersistent: isPersistent) { told.tell($0) }
        network.deliver()
        return (operation, told)
    }

    @Test("who comes second is renamed, or refused if it may not be; a program that waits has the name when it is free")
    func second() throws {
        let (one, two) = (try network.addMachine("h1"), try network.addMachine("h2"))
        let first = try publish(one)
        let renamed = try publish(two)
        let refused = try publish(two, port: 81, onConflict: .fail)
        let waiting = try publish(two, port: 82, onConflict: .fail, isPersistent: true)
        #expect(first.told.all == ["registering tony", "established tony"])
        #expect(renamed.told.all == ["registering tony", "registering tony #2", "established tony #2"])
        #expect(refused.told.all == ["registering tony", "conflicted tony"])
        #expect(waiting.told.all == ["registering tony", "refused tony"])
        first.operation.cancel()
        network.deliver()
        #expect(waiting.told.names == ["tony"] && renamed.told.names == ["tony #2"])
    }

    @Test("two that begin at once: one has the name, whichever, by the tiebreak of RFC 6762 §8.2")
    func tiebreak() throws {
        let (one, two) = (
            try network.addMachine("h1", isBackendRunning: false), try network.addMachine("h2", isBackendRunning: false)
        )
        let both = [try publish(one), try publish(two)]
        network.partition([["h1"], ["h2"]])
        network.startBackend(of: "h1")
        network.startBackend(of: "h2")
        network.deliver()
        #expect(both.map(\.told.names) == [["tony"], ["tony"]])
        network.heal()
        network.deliver()
        #expect(Set(both.compactMap(\.told.names.last)) == ["tony", "tony #2"], "\(both.map(\.told.all))")
    }

    @Test("equal services of one host are no conflict (RFC 6762 §9); of two hosts they are, for their hosts differ")
    func equal() throws {
        let (one, two) = (try network.addMachine("h1"), try network.addMachine("h2"))
        let same = [try publish(one), try publish(one)]
        #expect(same.map(\.told.names) == [["tony"], ["tony"]])
        #expect(try publish(two).told.names == ["tony #2"])
        #expect(try publish(one, port: 81).told.names == ["tony #3"])
        withExtendedLifetime(same) {}
    }

    @Test("who comes back finds the name that somebody took meanwhile")
    func back() throws {
        let (one, two) = (try network.addMachine("h1"), try network.addMachine("h2"))
        let first = try publish(one)
        network.stopBackend(of: "h1", sayingGoodbye: false)
        let second = try publish(two)
        #expect(second.told.names == ["tony"])
        network.startBackend(of: "h1")
        network.deliver()
        #expect(first.told.names == ["tony", "tony #2"] && second.told.names == ["tony"])
    }

    @Test("two machines of one name: the second has another one until the first is gone, and its services point to it")
    func host() async throws {
        let one = try network.addMachine("h1", host: try HostName("box.local"))
        let two = try network.addMachine("h2", host: try HostName("box.local"))
        let hosts = Mutex<[String: String]>([:])
        let watch = one.browse(
            ServiceQuery(.type(try ServiceType("_http._tcp"), .local), resolution: .watch)
        ) { facts in
            for case .resolved(let resolution) in facts {
                hosts.withLock { $0[resolution.instance.name.text] = resolution.target.host.text }
            }
        }
        let both = [try publish(one, "a"), try publish(two, "b")]
        #expect(hosts.withLock { $0 } == ["a": "box.local", "b": "box-2.local"])
        // Asked for after a minute, in vain, and again two minutes later.
        network.advance(by: .seconds(80))
        #expect(hosts.withLock { $0["b"] } == "box-2.local")
        both[0].operation.cancel()
        network.advance(by: .seconds(60))
        #expect(hosts.withLock { $0["b"] } == "box-2.local")
        network.advance(by: .seconds(100))
        #expect(hosts.withLock { $0["b"] } == "box.local")
        #expect(both[1].told.names == ["b"])
        withExtendedLifetime((watch, both)) {}
    }

    @Test("a host that has every name: given up after a hundred, and tried again for a service that was there")
    func contested() throws {
        let one = try network.addMachine("h1")
        var name = try ServiceName("tony")
        let type = try ServiceType("_http._tcp")
        for _ in 0..<150 {
            network.claim(ServiceInstance(name: name, type: type, domain: .local))
            name = name.nextAfterCollision()
        }
        let told = try publish(one).told
        #expect(told.all.last == "conflicted tony #101", "\(told.all.suffix(3))")
        let patient = try publish(one, isPersistent: true).told
        #expect(patient.all.last == "refused tony", "\(patient.all.suffix(3))")
    }
}
