import DNSMessage
import DNSSD
import Discovery
import DiscoverySystem
import DiscoveryTesting
import Testing

@testable import UnicastEngine

/// The finder with the library above it, its clock turned by hand where time passes.
@Suite(.timeLimit(.minutes(5))) struct UnicastFinderTests {
    private let server = ScriptedServer()
    private let engine: EngineRouter
    private let finder: UnicastEngine

    init() {
        finder = UnicastEngine(domains: [], exchange: server) { Surroundings(searchDomains: [], networks: []) }
        engine = EngineRouter(finders: [finder], publishers: [])
    }

    private func instance(_ text: String) throws -> ServiceInstance {
        ServiceInstance(
            name: try ServiceName(text), type: try ServiceType("_http._tcp"), domain: try Domain("home.example.org"))
    }

    @Test func aServiceIsResolvedByName() async throws {
        server.add("Tony")
        let network = LocalNetwork(engine: engine)
        let service = try await network.resolve(try instance("Tony"), within: .seconds(5))
        #expect(service.endpoints.map { "\($0)" } == ["10.53.1.7:80", "[fd53:1::7]:80"])
        #expect(service.interfaces.isEmpty)
    }

    @Test func nothingOfTheLinkIsFoundHere() throws {
        #expect(!finder.finds(in: .local))
        #expect(finder.finds(in: try Domain("home.example.org")))
    }

    @Test func withheldAddressesAreAnErrorOfTheirOwn() async throws {
        server.add("Tony")
        server.change { $0.withholdsAddresses = true }
        let network = LocalNetwork(engine: engine)
        let error = try #require(
            await #expect(throws: DiscoveryError.self) {
                try await network.resolve(try instance("Tony"), within: .seconds(5))
            })
        #expect(error.code == .addressesWithheld && error.message.contains("rebinding"))
    }

    @Test func aServerThatIsSilentIsSaidToBe() async throws {
        server.change { $0.failure = .silent("10.53.0.53 does not answer") }
        let network = LocalNetwork(engine: engine)
        let error = try #require(
            await #expect(throws: DiscoveryError.self) {
                try await network.resolve(try instance("Tony"), within: .seconds(5))
            })
        #expect(error.code == .backendUnavailable && error.message.contains("10.53.0.53"))
    }

    @Test func itAsksAgainByItsClock() async throws {
        server.add("Tony")
        let time = DiscoveryTesting.TestTime()
        let finder = UnicastEngine(domains: [], exchange: server, time: time) {
            Surroundings(searchDomains: [], networks: [])
        }
        let (facts, continuation) = AsyncStream.makeStream(of: BrowseFact.self)
        let target = ServiceQuery.Target.type(try ServiceType("_http._tcp"), try Domain("home.example.org"))
        let operation = finder.browse(ServiceQuery(target, resolution: .none)) { batch in
            for fact in batch { continuation.yield(fact) }
        }
        var iterator = facts.makeAsyncIterator()
        while let fact = await iterator.next(), fact != .listed {}
        server.add("new")
        #expect(finder.openObjects == 1)
        // It asks 60 s later at the latest.
        while time.sleepers == 0 { await Task.yield() }
        time.advance(by: .seconds(61))
        while let fact = await iterator.next() {
            if case .appeared(let sighting) = fact, sighting.instance.name.text == "new" { break }
        }
        operation.cancel()
        #expect(finder.openObjects == 0)
        await finder.shutdown()
    }

    @Test func theSettingsNameWhomToAsk() async throws {
        let asked = RecordingExchange(server)
        let address = try #require(IPAddress("10.53.0.53"))
        let settings = DomainSettings(
            try Domain("home.example.org"), server: ServerName(.address(address), port: try Port(5353)))
        let directory = ServerDirectory([settings], exchange: asked)
        _ = await directory.ask(Question(name("_http._tcp.home.example.org"), .ptr))
        _ = await directory.ask(Question(name("h1.elsewhere.example"), .a))
        #expect(asked.targets == [.server(ServerAddress(address, port: try Port(5353))), .resolver])
    }

    @Test func aServerByNameIsLookedUpOnceAndAskedAtAllItsAddresses() async throws {
        server.change { zone in
            zone.records[Question(name("ns.home.example.org"), .a)] = [.a(0x0A35_0036)]
            zone.records[Question(name("ns.home.example.org"), .aaaa)] = [.aaaa(high: 0xFD53_0000_0000_0000, low: 0x54)]
        }
        let asked = RecordingExchange(server)
        let settings = DomainSettings(
            try Domain("home.example.org"),
            server: ServerName(.name(try HostName("ns.home.example.org")), port: try Port(53)))
        let directory = ServerDirectory([settings], exchange: asked)
        for _ in 0..<2 { _ = await directory.ask(Question(name("_http._tcp.home.example.org"), .ptr)) }
        let target = DNSTarget.servers(
            try ["10.53.0.54", "fd53::54"].map { text in
                ServerAddress(try #require(IPAddress(text)), port: try Port(53))
            })
        #expect(asked.targets == [.resolver, .resolver, target, target])
    }

    /// Who asks about `home.example.org`, which `ns.home.example.org` serves, and what was asked.
    private func askingByName() throws -> (ServerDirectory, RecordingExchange) {
        server.change { $0.records[Question(name("ns.home.example.org"), .a)] = [.a(0x0A35_0036)] }
        let asked = RecordingExchange(server)
        let settings = DomainSettings(
            try Domain("home.example.org"),
            server: ServerName(.name(try HostName("ns.home.example.org")), port: try Port(53)))
        return (ServerDirectory([settings], exchange: asked), asked)
    }

    @Test func aServerByNameThatRefusesIsLookedUpAgain() async throws {
        let (directory, asked) = try askingByName()
        let question = Question(name("_http._tcp.home.example.org"), .ptr)
        _ = await directory.ask(question)
        server.change { $0.code = ResponseCode.refused }
        _ = await directory.ask(question)
        server.change { $0.code = 0 }
        _ = await directory.ask(question)
        let target = DNSTarget.server(
            ServerAddress(try #require(IPAddress("10.53.0.54")), port: try Port(53)))
        #expect(asked.targets == [.resolver, .resolver, target, target, .resolver, .resolver, target])
    }

    /// The resolver fails, or knows the server no more: its addresses are still the best guess.
    @Test func aServerByNameThatIsNotFoundAgainIsAskedWhereItWas() async throws {
        let (directory, asked) = try askingByName()
        let question = Question(name("_http._tcp.home.example.org"), .ptr)
        _ = await directory.ask(question)
        server.change { $0.code = ResponseCode.refused }
        for _ in 0..<2 { _ = await directory.ask(question) }
        server.change { zone in
            zone.code = 0
            zone.records[Question(name("ns.home.example.org"), .a)] = nil
        }
        for _ in 0..<2 {
            let (_, failure) = await directory.ask(question)
            #expect(failure == nil)
        }
        let target = DNSTarget.server(
            ServerAddress(try #require(IPAddress("10.53.0.54")), port: try Port(53)))
        let again: [DNSTarget] = [.resolver, .resolver, target]
        let expected: [DNSTarget] = again + [target] + again + again + [target]
        #expect(asked.targets == expected)
    }
}

/// Writes down who was asked.
private final class RecordingExchange: DNSExchange {
    private let server: ScriptedServer
    private let log = Locked<[DNSTarget]>([])

    init(_ server: ScriptedServer) { self.server = server }

    var targets: [DNSTarget] { log.withLock { $0 } }

    func ask(_ question: Question, of whom: DNSTarget) async throws(DNSFailure) -> DNSAnswer {
        log.withLock { $0.append(whom) }
        return try server.answer(question)
    }

    func update(
        _ update: Message, at server: ServerAddress, key: TSIGKey?
    ) async throws(DNSFailure) -> UpdateAnswer { throw .impossible("not here") }
}
