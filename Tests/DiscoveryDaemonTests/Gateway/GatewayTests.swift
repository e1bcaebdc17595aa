import DNSSD
import Discovery
import DiscoverySystem
import DiscoveryTesting
import Testing

@testable import DiscoveryDaemon

/// A gateway whose query about the link fails.
@Suite(.timeLimit(.minutes(5))) struct GatewayTests {
    /// A zone as a list of names.
    private final class Zone: ExportTarget {
        let names = Locked<Set<String>>([])
        let told = Locked(0)

        func publish(_ export: Export) -> any ExportedService {
            told.withLock { $0 += 1 }
            names.withLock { _ = $0.insert(export.service.name.text) }
            return Service(zone: self, name: export.service.name.text)
        }

        private final class Service: ExportedService {
            let zone: Zone
            let name: String

            init(zone: Zone, name: String) { (self.zone, self.name) = (zone, name) }

            func change(to export: Export) {}
            func withdraw(within limit: Duration) async { zone.names.withLock { _ = $0.remove(name) } }
        }
    }

    /// As its list of names becomes so.
    private func until(_ zone: Zone, _ names: Set<String>) async {
        while zone.names.withLock({ $0 }) != names { await Task.yield() }
    }

    @Test func whatASiteHasToldStaysForTwoMinutesAndIsBackWithIt() async throws {
        let world = SimulatedNetwork()
        let network = LocalNetwork(engine: try world.addMachine("site"), limits: TestDaemon.limits)
        let there = LocalNetwork(engine: try world.addMachine("printer"), limits: TestDaemon.limits)
        let tony = try there.publish(OfferedService(name: "tony", type: "_http._tcp", port: 80))
        let anna = try there.publish(OfferedService(name: "anna", type: "_http._tcp", port: 81))
        let (time, zone, isRouted) = (TestTime(), Zone(), Locked(true))
        let peer = MirrorPeer(name: "a", host: "10.8.0.1", port: try Port(5354))
        let rule = ExportRule(
            from: .peer(peer), to: .links(MirrorLinks(interfaces: try InterfaceFilter(["home"]), label: "a")),
            types: [try ServiceType("_http._tcp")])
        let gateway = Gateway(
            rule, into: zone, log: DaemonLog(write: { _ in }), time: time,
            admission: {
                ExportAdmission(rule, local: LocalAddresses(entries: [])) { _ in
                    isRouted.withLock { $0 }
                } mayBeDialled: { _, _ in
                    true
                }
            },
            events: { network.follow($0) })
        let run = Task { await gateway.run() }
        await until(zone, ["tony", "anna"])
        // A short break: nobody sees it.
        world.stopBackend(of: "site")
        await time.sleeper(until: .seconds(120))
        time.advance(by: .seconds(119))
        world.startBackend(of: "site")
        while time.sleepers > 1 { await Task.yield() }
        #expect(zone.names.withLock { $0 } == ["tony", "anna"] && zone.told.withLock { $0 } == 2)
        // A long one.
        world.stopBackend(of: "site")
        await time.sleeper(until: .seconds(239))
        time.advance(by: .seconds(119))
        #expect(zone.names.withLock { $0 } == ["tony", "anna"])
        time.advance(by: .seconds(1))
        await until(zone, [])
        await anna.withdraw()
        world.startBackend(of: "site")
        while !zone.names.withLock({ $0.contains("tony") }) { await Task.yield() }
        await until(zone, ["tony"])
        // A route that goes and comes.
        for (routed, names) in [(false, []), (true, ["tony"])] as [(Bool, Set<String>)] {
            isRouted.withLock { $0 = routed }
            while time.sleepers < 1 { await Task.yield() }
            time.advance(by: .seconds(10))
            await until(zone, names)
        }
        await tony.withdraw()
        run.cancel()
        await run.value
        for network in [network, there] { await network.shutdown() }
    }

    /// As where it was found over IPv6 before this machine had an IPv4 address there: the service itself has no news.
    @Test func whatWasLeftOutComesInOnceThisMachineHasAnAddressOnTheLink() async throws {
        let world = SimulatedNetwork()
        let network = LocalNetwork(engine: try world.addMachine("gateway"), limits: TestDaemon.limits)
        let there = LocalNetwork(engine: try world.addMachine("printer"), limits: TestDaemon.limits)
        let tony = try there.publish(OfferedService(name: "tony", type: "_http._tcp", port: 80))
        let (time, zone, hasAddress) = (TestTime(), Zone(), Locked(false))
        let own = LocalAddresses.Entry(
            interface: NetworkInterface(index: 2, name: "eth0"), address: try #require(IPAddress("10.0.0.1")),
            prefixLength: 24)
        let rule = ExportRule(
            from: .links(try InterfaceFilter(["eth0"])), to: .zone(try Domain("link1.example.org")),
            types: [try ServiceType("_http._tcp")])
        let gateway = Gateway(
            rule, into: zone, log: DaemonLog(write: { _ in }), time: time,
            admission: {
                ExportAdmission(rule, local: LocalAddresses(entries: hasAddress.withLock { $0 } ? [own] : [])) { _, _ in
                    true
                }
            },
            events: { network.follow($0) })
        let run = Task { await gateway.run() }
        while await gateway.status.refused[.address] != 1 { await Task.yield() }
        await time.sleeper(until: .seconds(10))
        hasAddress.withLock { $0 = true }
        time.advance(by: .seconds(10))
        // It has to be there for 5 s.
        await time.sleeper(until: .seconds(15))
        time.advance(by: .seconds(5))
        await until(zone, ["tony"])
        await tony.withdraw()
        run.cancel()
        await run.value
        for network in [network, there] { await network.shutdown() }
    }

    @Test func itEndsWithTheNetworkAndSaysNothingOfThat() async throws {
        let network = LocalNetwork(engine: try SimulatedNetwork().addMachine("gateway"), limits: TestDaemon.limits)
        let lines = Locked(0)
        let rule = ExportRule(
            from: .links(try InterfaceFilter(["*"])),
            to: .links(MirrorLinks(interfaces: try InterfaceFilter(["home"]), label: "a")),
            types: [try ServiceType("_http._tcp")])
        let gateway = Gateway(
            rule, into: Zone(), log: DaemonLog { _ in lines.withLock { $0 += 1 } }, time: TestTime()
        ) {
            network.follow($0)
        }
        let run = Task { await gateway.run() }
        await network.shutdown()
        await run.value
        #expect(lines.withLock { $0 } == 0)
    }

    @Test func aQueryThatFailsIsToldAndTriedAgain() async throws {
        let world = SimulatedNetwork()
        let working = LocalNetwork(engine: try world.addMachine("later"), limits: TestDaemon.limits)
        let lines = Locked<[String]>([])
        let log = DaemonLog(isJournal: false) { bytes in
            lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        }
        let time = TestTime()
        let tries = Locked(0)
        let rule = ExportRule(
            from: .links(try InterfaceFilter(["*"])), to: .zone(try Domain("link1.example.org")),
            types: [try ServiceType("_http._tcp")])
        let gateway = Gateway(rule, into: Zone(), log: log, time: time) { query in
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            return number < 3 ? working.browse("a question that cannot be asked") : working.follow(query)
        }
        let run = Task { await gateway.run() }
        await time.sleeper(until: .seconds(1))
        let failure = try #require(await gateway.status.failure)
        #expect(tries.withLock { $0 } == 1)
        time.advance(by: .seconds(1))
        await time.sleeper(until: .seconds(3))
        #expect(tries.withLock { $0 } == 2)
        time.advance(by: .seconds(2))
        while await gateway.status.failure != nil { await Task.yield() }
        #expect(tries.withLock { $0 } == 3)
        #expect(
            lines.withLock { $0 } == [
                "discoverd: warning: services of _http._tcp are not followed for link1.example.org, and this is tried "
                    + "again: \(failure)\n",
                "discoverd: services of _http._tcp are followed for link1.example.org again\n",
            ])
        run.cancel()
        await run.value
        await working.shutdown()
    }
}
