import DNSMessage
import DNSSD
import Discovery
import Testing

@testable import UnicastEngine

/// A label `*` in a zone answers for every name that is absent (RFC 4592): nothing here ever writes one.
@Suite struct WildcardTests {
    private static func id(_ number: UInt64) -> PublisherID {
        var generator = SeededGenerator(seed: number)
        return PublisherID(using: &generator)
    }

    @Test func aServiceOfThatNameIsRefusedAndTheZoneStaysAsItIs() throws {
        var world = ZoneSimulation(seed: 1)
        let one = try world.add(Self.id(1), host: "h1")
        let number = try world.publish("*", by: one, isPersistent: true)
        world.run(for: .seconds(30))
        guard case .failed(let error) = world.publishers[one].facts[number]?.state else {
            Issue.record("\(String(describing: world.publishers[one].facts[number]))")
            return
        }
        #expect(error.code == .invalidServiceName && error.message.contains("wildcard"))
        #expect(world.publishers[one].gone == [number] && world.zone == ScriptedZone())
        try world.publish("* #2", by: one)
        world.run(for: .seconds(30))
        #expect(world.zone.records.keys.contains { "\($0.name)".hasPrefix("*") } == true, "which is no wildcard")
        #expect(!world.zone.records.keys.contains { $0.name.isWildcard })
    }

    @Test func neitherASubtypeNorAHostNorADomainIsOne() throws {
        var service = try OfferedService(name: "web", type: "_http._tcp", domain: "example.org", port: 80)
        #expect(service.wildcardFault == nil && InstanceNames(service, as: service.name) != nil)
        service.subtypes = ["*"]
        #expect(service.wildcardFault != nil && InstanceNames(service, as: service.name) == nil)
        let layout = try ZoneSimulation.layout()
        for host in ["*", "*.hosts", "web.*"] { #expect(layout.host(host) == nil, "\(host)") }
        for domain in ["*.example.org", #"\042.example.org"#, "link1.*.example.org"] {
            let domain = try Domain(domain)
            #expect(ZoneLayout(domain) == nil && domain.wildcardFault != nil, "\(domain)")
        }
        let link = try OfferedService(name: "*", type: "_http._tcp", port: 80)
        #expect(link.wildcardFault == nil, "the link has no wildcards")
    }

    @Test func nothingIsAddedToOneAndWhatIsThereIsDeleted() throws {
        let star = name("*.home.example.org")
        var update = ZoneUpdate()
        update.replace(star, .txt, with: .txt([0]), ttl: 60)
        update.add(name("a.*.home.example.org"), .a, .a(1), ttl: 60)
        update.deleteAll(star, .dhcid)
        update.delete(star, .a, .a(1))
        #expect(update.changes.map(\.name) == [star, star, star])
        #expect(update.changes.allSatisfy { $0.recordClass == .any || $0.recordClass == .none })
    }

    /// What an earlier version has left there is taken back, and its owner is not taken for that of an absent name.
    @Test func theJanitorIsNotDeceivedByWhatAServerMakesOfOne() throws {
        var world = ZoneSimulation(seed: 1)
        let gone = try world.add(Self.id(1), host: "h1")
        try world.publish("tony", by: gone)
        let watcher = try world.add(Self.id(2), host: "h2")
        try world.publish("other", by: watcher)
        world.run(for: .seconds(20))
        let layout = try ZoneSimulation.layout()
        let (star, tony) = (name("*._http._tcp.home.example.org"), name("tony._http._tcp.home.example.org"))
        let id = Self.id(1)
        for type in [RecordType.srv, .txt, .dhcid] {
            world.zone.records[.init(name: star, type: type)] = world.zone.records[.init(name: tony, type: type)]
            world.zone.records[.init(name: tony, type: type)] = nil
        }
        world.zone.records[.init(name: star, type: .dhcid)] = [id.ownership(of: star)]
        let manifest = layout.manifest(ZoneLayout.shard(of: star), of: id)
        world.zone.records[.init(name: manifest, type: .ptr), default: []].insert(.ptr(star))
        // Another's, under the name that the manifest lists, too.
        world.zone.records[.init(name: tony, type: .a)] = [.a(7)]
        world.crash(gone)
        world.run(for: .seconds(60))
        #expect(!world.zone.records.keys.contains { $0.name == star })
        #expect(world.zone.records[.init(name: tony, type: .a)] == [.a(7)])
        #expect(world.publishers[watcher].rules.reaped == 1)
    }
}
