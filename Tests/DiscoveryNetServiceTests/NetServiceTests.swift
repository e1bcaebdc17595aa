import DNSSD
import Discovery
import DiscoveryNetService
import DiscoveryTesting
import Foundation
import Testing

/// Two machines of a simulated network, with a clock that the test advances.
@MainActor @Suite("NetService", .timeLimit(.minutes(5)))
struct NetServiceTests {
    private let world: SimulatedNetwork
    private let time = TestTime()
    private let one: LocalNetwork
    private let two: LocalNetwork
    private let recorder = Recorder()

    init() throws {
        world = SimulatedNetwork(domains: [.local, try Domain("example.com")])
        one = LocalNetwork(engine: try world.addMachine("h1"), time: time)
        two = LocalNetwork(engine: try world.addMachine("h2"), time: time)
    }

    private func service(_ name: String, port: Int32 = 9000, on network: LocalNetwork? = nil) -> NetService {
        let service = NetService(domain: "local.", type: "_tonyipp._tcp.", name: name, port: port)
        service.network = network ?? one
        service.delegate = recorder
        return service
    }

    @Test("publish and stop: will, did, did stop, with nothing left; and again")
    func publishing() async {
        let tony = service("tony")
        for round in 0..<2 {
            tony.publish()
            // Never from within the causing call.
            #expect(recorder.words.count == 3 * round)
            let words = await recorder.words(3 * round + 2)
            #expect(words.suffix(2) == ["will publish", "did publish tony"])
            tony.stop()
            #expect(await recorder.words(3 * round + 3).last == "did stop")
            #expect(world.openOperations == 0)
        }
        tony.stop()
        #expect(recorder.words.count == 6)
    }

    @Test("a taken name is given a number, which `name` has; with .noAutoRename it is -72001")
    func collisions() async {
        let first = service("tony")
        first.publish()
        _ = await recorder.words(2)
        let second = service("tony", port: 9001, on: two)
        second.publish()
        #expect(await recorder.words(4).last == "did publish tony #2")
        let third = service("tony", port: 9002, on: two)
        third.publish(options: .noAutoRename)
        #expect(await recorder.words(6).last == "did not publish 10 -72001")
        #expect(third.failure?.code == .nameTaken)
        #expect(world.openOperations == 2)
    }

    @Test("a name lost later is reported as published again, or not with .noAutoRename")
    func laterCollision() async {
        world.partition([["h1"], ["h2"]])
        let first = service("tony")
        first.publish()
        _ = await recorder.words(2)
        let renamed = service("tony", port: 9001, on: two)
        renamed.publish()
        #expect(await recorder.words(4).last == "did publish tony")
        world.heal()
        // Which of two it is that loses the name is up to the protocol (RFC 6762 §9).
        #expect(await recorder.words(5).last == "did publish tony #2")
        #expect(Set([first.name, renamed.name]) == ["tony", "tony #2"])
    }

    @Test("a name that is lost later is -72001 with .noAutoRename")
    func laterCollisionWithoutRename() async {
        world.partition([["h1"], ["h2"]])
        let first = service("tony")
        first.publish(options: .noAutoRename)
        _ = await recorder.words(2)
        let fixed = service("tony", port: 9001, on: two)
        fixed.publish(options: .noAutoRename)
        #expect(await recorder.words(4).last == "did publish tony")
        world.heal()
        #expect(await recorder.words(5).last == "did not publish 10 -72001")
        #expect(first.name == "tony" && fixed.name == "tony")
        #expect([first, fixed].count { $0.failure?.code == .nameTaken } == 1)
    }

    @Test("the domain that is asked for is the one that is published in; peer-to-peer may be wished for")
    func domain() async throws {
        let tony = NetService(domain: "example.com.", type: "_tonyipp._tcp.", name: "tony", port: 9000)
        tony.network = one
        tony.delegate = recorder
        tony.includesPeerToPeer = true
        tony.publish()
        #expect(await recorder.words(2) == ["will publish", "did publish tony"])
        // The name is free in another domain.
        let local = service("tony", on: two)
        local.publish(options: .noAutoRename)
        #expect(await recorder.words(4).last == "did publish tony")
        let found = two.browse(try ServiceType("_tonyipp._tcp"), in: try Domain("example.com"), resolution: .none)
        for try await case .found(let service) in found {
            #expect(service.instance.description == "tony._tonyipp._tcp.example.com")
            break
        }
    }

    @Test("a service that listens is found by its subtypes, too; a type _udp has no connections (-72004)")
    func listening() async throws {
        let printer = NetService(domain: "local.", type: "_tonyipp._tcp,_printer", name: "tony", port: 0)
        let datagrams = NetService(domain: "local.", type: "_tonyipp._udp", name: "ann", port: 0)
        for service in [printer, datagrams] {
            service.network = one
            service.delegate = recorder
        }
        printer.publish(options: .listenForConnections)
        #expect(await recorder.words(2).last == "did publish tony")
        let subtype = try ServiceType("_printer._sub._tonyipp._tcp")
        for try await case .found(let service) in two.browse(subtype, in: .local, resolution: .none) {
            #expect(service.instance.name.text == "tony")
            break
        }
        datagrams.publish(options: .listenForConnections)
        #expect(await recorder.words(4).last == "did not publish 10 -72004")
        printer.stop()
        #expect(await recorder.words(5).last == "did stop")
    }

    @Test(
        "a service that cannot be published is -72004, one that cannot be now -72003",
        arguments: [
            ("_tonyipp", "tony", 9000), ("_tonyipp._tcp", "tony", -1), ("_tonyipp._tcp", "tony", 0),
            ("_tonyipp._tcp", "to\u{1B}ny", 9000), ("_tonyipp._tcp", String(repeating: "x", count: 64), 9000),
        ]
            as [(String, String, Int32)])
    func refusals(_ type: String, _ name: String, _ port: Int32) async {
        let wrong = NetService(domain: "", type: type, name: name, port: port)
        wrong.network = one
        wrong.delegate = recorder
        wrong.publish()
        #expect(await recorder.words(1) == ["did not publish 10 -72004"])
        #expect(wrong.failure != nil)
        let tony = service("tony")
        tony.publish()
        tony.publish()
        tony.resolve(withTimeout: 1)
        let words = await recorder.words(5)
        #expect(
            Set(words.dropFirst()) == [
                "will publish", "did publish tony", "did not publish 10 -72003", "did not resolve 10 -72003",
            ])
    }

    @Test("an empty name is this machine's, an empty domain is local")
    func ownName() async throws {
        let mine = NetService(domain: "", type: "_tonyipp._tcp", name: "", port: 9000)
        mine.network = one
        mine.delegate = recorder
        mine.publish()
        _ = await recorder.words(2)
        let host = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        #expect(mine.name == host)
        #expect(mine.isEqual(NetService(domain: "local.", type: "_tonyipp._tcp.", name: mine.name)))
    }

    @Test("without a backend publishing and resolving fail with -72008, after seconds")
    func noBackend() async throws {
        let alone = LocalNetwork(engine: try world.addMachine("h3", isBackendRunning: false), time: time)
        let tony = service("tony", on: alone)
        tony.publish()
        _ = await recorder.words(1)
        await time.sleeper(until: .seconds(5))
        time.advance(by: .seconds(5))
        #expect(await recorder.words(2).last == "did not publish 10 -72008")
        tony.resolve(withTimeout: 30)
        _ = await recorder.words(3)
        await time.sleeper(until: .seconds(7))
        time.advance(by: .seconds(2))
        #expect(await recorder.words(4).last == "did not resolve 10 -72008")
    }

    @Test("resolving gives host, port, TXT record and addresses with scope, and ends with the time")
    func resolving() async throws {
        let tony = service("tony")
        #expect(tony.setTXTRecord(NetService.data(fromTXTRecord: ["path": Data("/x".utf8)])))
        tony.publish()
        _ = await recorder.words(2)
        let found = service("tony", port: -1, on: two)
        found.resolve(withTimeout: 30)
        #expect(await recorder.words(4).suffix(2) == ["will resolve", "did resolve 9000"])
        #expect(found.hostName == "h1.local.")
        #expect(found.txtRecordData().map(NetService.dictionary(fromTXTRecord:)) == ["path": Data("/x".utf8)])
        let addresses = try #require(found.addresses)
        try #require(addresses.count == 2)
        let v4 = addresses[0].withUnsafeBytes { $0.loadUnaligned(as: sockaddr_in.self) }
        #expect(
            v4.sin_family == AF_INET && v4.sin_port.bigEndian == 9000 && v4.sin_addr.s_addr.bigEndian == 0x0A00_0001)
        let v6 = addresses[1].withUnsafeBytes { $0.loadUnaligned(as: sockaddr_in6.self) }
        #expect(v6.sin6_family == AF_INET6 && v6.sin6_port.bigEndian == 9000 && v6.sin6_scope_id == 2)
        #expect(addresses[1][8] == 0xFE && addresses[1][9] == 0x80 && addresses[1][23] == 1)
        await time.sleeper(until: .seconds(30))
        time.advance(by: .seconds(30))
        #expect(await recorder.words(5).last == "did stop")
    }

    @Test("a missing service is -72007 when the time is over; stop() before that is did stop")
    func notResolved() async {
        let nobody = service("nobody", port: -1)
        nobody.resolve(withTimeout: 1.0)
        await time.sleeper(until: .seconds(1))
        time.advance(by: .seconds(1))
        #expect(await recorder.words(2) == ["will resolve", "did not resolve 10 -72007"])
        nobody.resolve(withTimeout: 0)
        _ = await recorder.words(3)
        nobody.stop()
        #expect(await recorder.words(4).last == "did stop")
        #expect(world.openOperations == 0)
    }

    @Test("startMonitoring reports the TXT record at the start and after each setTXTRecord, until stopMonitoring")
    func monitoring() async throws {
        let tony = service("tony")
        let first = NetService.data(fromTXTRecord: ["v": Data("1".utf8)])
        tony.setTXTRecord(first)
        tony.publish()
        _ = await recorder.words(2)
        let watched = service("tony", port: -1, on: two)
        watched.startMonitoring()
        #expect(await recorder.words(3).last == "did update TXT")
        #expect(recorder.records == [first])
        let second = NetService.data(fromTXTRecord: ["v": Data("2".utf8), "w": Data()])
        #expect(tony.setTXTRecord(second))
        #expect(await recorder.words(4).last == "did update TXT")
        #expect(recorder.records.last == second && watched.txtRecordData() == second)
        // Published throughout: no one saw an end.
        #expect(!tony.setTXTRecord(Data([5, 1])))
        #expect(tony.txtRecordData() == second)
        watched.stopMonitoring()
        tony.stop()
        #expect(await recorder.words(5).last == "did stop")
    }

    @Test("a service whose last reference is dropped is withdrawn; its delegate is not kept")
    func dropping() async {
        var tony: NetService? = service("tony")
        tony?.publish()
        _ = await recorder.words(2)
        weak let dropped = tony
        tony = nil
        #expect(dropped == nil)
        let again = service("tony", port: 9001, on: two)
        again.publish(options: .noAutoRename)
        // It may still be listed for a moment.
        var count = 4
        while await recorder.words(count).last != "did publish tony" {
            again.publish(options: .noAutoRename)
            count += 2
        }
        var brief: Recorder? = Recorder()
        again.delegate = brief
        brief = nil
        #expect(again.delegate == nil)
    }
}
