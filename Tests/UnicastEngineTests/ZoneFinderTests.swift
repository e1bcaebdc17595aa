import DNSMessage
import DNSSD
import Testing

@testable import UnicastEngine

@Suite("The zone of a domain")
struct ZoneFinderTests {
    /// Answers from a table, and counts.
    actor Table: DNSExchange {
        var answers: [Question: Message] = [:]
        var asked: [DNSTarget] = []

        func set(_ question: Question, _ message: Message) { answers[question] = message }

        nonisolated func ask(_ question: Question, of whom: DNSTarget) async throws(DNSFailure) -> DNSAnswer {
            guard let message = await take(question, whom), let resolver = AttemptsTests.servers.first else {
                throw .silent("nobody")
            }
            // Of several addresses only the last answers.
            if case .servers(let servers) = whom, let last = servers.last {
                return DNSAnswer(message: message, server: last)
            }
            return DNSAnswer(message: message, server: resolver)
        }

        nonisolated func update(
            _ update: Message, at server: ServerAddress, key: TSIGKey?
        ) async throws(DNSFailure) -> UpdateAnswer { throw .silent("nobody") }

        private func take(_ question: Question, _ whom: DNSTarget) -> Message? {
            asked.append(whom)
            return answers[question]
        }
    }

    let table = Table()

    private func name(_ text: String) throws -> DomainName { try DomainName(labels: Domain(text).labels) }

    private func soa(_ owner: String, ttl: UInt32 = 60) throws -> ResourceRecord {
        ResourceRecord(
            try name(owner), .soa,
            .soa(
                StartOfAuthority(
                    primary: try name("ns.\(owner)"), mailbox: .root, serial: 7, refresh: 1, retry: 1, expire: 1,
                    minimum: 10)), ttl: ttl)
    }

    @Test("By the answer, or beside it below the zone; the primary's addresses by the resolver")
    func found() async throws {
        let record = try soa("home.example.org")
        await table.set(Question(try name("home.example.org"), .soa), Message(answers: [record]))
        var below = Message(authorities: [record])
        below.flags = Message.Flags(rawValue: ResponseCode.noSuchName)
        await table.set(Question(try name("link1.home.example.org"), .soa), below)
        let host = try name("ns.home.example.org")
        await table.set(Question(host, .a), Message(answers: [ResourceRecord(host, .a, .a(0x0A35_0035), ttl: 60)]))
        await table.set(Question(host, .aaaa), Message())
        let finder = ZoneFinder(exchange: table)
        for domain in ["home.example.org", "link1.home.example.org"] {
            let zone = try await finder.zone(of: Domain(domain))
            #expect(try zone.zone == name("home.example.org") && zone.server.description == "10.53.0.53")
        }
    }

    @Test("A server that is configured is asked, and takes the updates")
    func configured() async throws {
        await table.set(Question(try name("home.example.org"), .soa), Message(answers: [try soa("home.example.org")]))
        let finder = ZoneFinder(exchange: table)
        let server = ServerName(.address(try #require(IPAddress("10.53.0.53"))), port: try Port(5353))
        let zone = try await finder.zone(of: Domain("home.example.org"), server: server)
        #expect(zone.server.description == "10.53.0.53:5353")
        #expect(await table.asked == [.server(zone.server)])
    }

    @Test("Of several addresses of the primary, or of a server that is named, the one that answers takes the updates")
    func severalAddresses() async throws {
        let zone = try name("home.example.org")
        await table.set(Question(zone, .soa), Message(answers: [try soa("home.example.org")]))
        let host = try name("ns.home.example.org")
        await table.set(Question(host, .a), Message(answers: [ResourceRecord(host, .a, .a(0x0A35_0035), ttl: 60)]))
        let v6 = ResourceRecord(host, .aaaa, .aaaa(high: 0xFD53_0000_0000_0000, low: 0x53), ttl: 60)
        await table.set(Question(host, .aaaa), Message(answers: [v6]))
        let named = ServerName(.name(try HostName("ns.home.example.org")), port: try Port(53))
        for server in [nil, named] {
            let finder = ZoneFinder(exchange: table)
            let found = try await finder.zone(of: Domain("home.example.org"), server: server)
            #expect(found.server.description == "fd53::53")
        }
    }

    @Test("No such zone, none of ours, a server that does not serve it, nobody: each has its code")
    func refused() async throws {
        let finder = ZoneFinder(exchange: table)
        func code(_ message: Message?) async throws -> DiscoveryError? {
            if let message { await table.set(Question(try name("home.example.org"), .soa), message) }
            return await #expect(throws: DiscoveryError.self) {
                try await finder.zone(of: Domain("home.example.org"))
            }
        }
        #expect(try await code(nil)?.code == .backendUnavailable)
        #expect(try await code(Message())?.code == .misconfigured)
        #expect(try await code(Message(authorities: [soa("org")]))?.message.contains("no zone") == true)
        #expect(try await code(Message(authorities: [soa("other.example.org")]))?.code == .misconfigured)
        let refused = Message(flags: Message.Flags(rawValue: ResponseCode.refused))
        #expect(try await code(refused)?.message.contains("REFUSED") == true)
        let failed = Message(flags: Message.Flags(rawValue: ResponseCode.serverFailure))
        #expect(try await code(failed)?.code == .backendUnavailable)
        let server = ServerName(.address(try #require(IPAddress("10.53.0.53"))), port: try Port(53))
        let error = await #expect(throws: DiscoveryError.self) {
            try await finder.zone(of: Domain("home.example.org"), server: server)
        }
        #expect(error?.code == .misconfigured && error?.message.contains("SERVFAIL") == true)
    }

    @Test("A resolver that fails to say where a server is may know it later; one that says that it is nowhere does not")
    func addressesAreNotKnown() async throws {
        let zone = try name("home.example.org")
        await table.set(Question(zone, .soa), Message(answers: [try soa("home.example.org")]))
        let host = try name("ns.home.example.org")
        let named = ServerName(.name(try HostName("ns.home.example.org")), port: try Port(53))
        for (code, expected) in [
            (ResponseCode.serverFailure, DiscoveryError.Code.backendUnavailable),
            (ResponseCode.noSuchName, .misconfigured),
        ] {
            for type in [RecordType.a, .aaaa] {
                await table.set(Question(host, type), Message(flags: Message.Flags(rawValue: code)))
            }
            for server in [nil, named] {
                let finder = ZoneFinder(exchange: table)
                let error = await #expect(throws: DiscoveryError.self) {
                    try await finder.zone(of: Domain("home.example.org"), server: server)
                }
                #expect(error?.code == expected)
            }
        }
        // One family is enough.
        await table.set(Question(host, .aaaa), Message(flags: Message.Flags(rawValue: ResponseCode.serverFailure)))
        await table.set(Question(host, .a), Message(answers: [ResourceRecord(host, .a, .a(0x0A35_0035), ttl: 60)]))
        let found = try await ZoneFinder(exchange: table).zone(of: Domain("home.example.org"), server: named)
        #expect(found.server.description == "10.53.0.53")
    }

    @Test("A server that has served the zone and fails may be loading it")
    func loading() async throws {
        let question = Question(try name("home.example.org"), .soa)
        await table.set(question, Message(answers: [try soa("home.example.org")]))
        let finder = ZoneFinder(exchange: table)
        let server = ServerName(.address(try #require(IPAddress("10.53.0.53"))), port: try Port(53))
        let domain = try Domain("home.example.org")
        _ = try await finder.zone(of: domain, server: server)
        for (code, expected) in [
            (ResponseCode.serverFailure, DiscoveryError.Code.backendUnavailable),
            (ResponseCode.refused, .misconfigured),
        ] {
            await table.set(question, Message(flags: Message.Flags(rawValue: code)))
            let error = await #expect(throws: DiscoveryError.self) { try await finder.zone(of: domain, server: server) }
            #expect(error?.code == expected)
        }
    }
}
