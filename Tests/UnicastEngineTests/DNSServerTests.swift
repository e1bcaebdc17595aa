import DNSMessage
import DNSSD
import Foundation
import Testing

@testable import UnicastEngine

/// Run on a host of the lab (lab/dns.sh): what BIND, Knot, PowerDNS and resolvers answer.
@Suite("DNS servers", .enabled(if: ProcessInfo.processInfo.environment["DNS_LAB"] != nil), .serialized)
struct DNSServerTests {
    struct Primary: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let server: ServerAddress
        let zone: DomainName

        init(_ name: String, _ address: String, _ zone: String) throws {
            testDescription = name
            server = try DNSServerTests.server(address)
            self.zone = try DNSServerTests.name(zone)
        }

        func name(_ labels: String) throws -> DomainName {
            try DomainName(labels: labels.split(separator: ".").map { Array($0.utf8) } + zone.labels.map(Array.init))
        }

        /// Adds a name that must not be there.
        func update(_ label: String) throws -> Message {
            let owner = try name("\(label)._http._tcp")
            return .update(
                zone: zone, prerequisites: [.isNotInUse(owner)],
                changes: [ResourceRecord(owner, .txt, .txt([1, 65]), ttl: 60)])
        }
    }

    static let primaries: [Primary] = {
        let made = [
            ("BIND", "10.53.0.53", "home.example.org"), ("Knot", "10.53.0.54", "office.example.org"),
            ("PowerDNS", "10.53.0.55", "shop.example.org"),
        ].map { try? Primary($0, $1, $2) }
        return made.compactMap { $0 }
    }()

    static func server(_ address: String) throws -> ServerAddress {
        ServerAddress(try #require(IPAddress(address)), port: try Port(53))
    }

    static func name(_ text: String) throws -> DomainName {
        try DomainName(labels: text.split(separator: ".").map { Array($0.utf8) })
    }

    static func key(_ name: String = "pub", secret: String = "secret-secret-secret-secret-1234") throws -> TSIGKey {
        TSIGKey(name: try Self.name("\(name).home.example.org"), algorithm: .sha256, secret: Array(secret.utf8))
    }

    @Test("The resolver of /etc/resolv.conf answers; what it says of DNSSEC is not believed: it is another machine's")
    func resolver() async throws {
        let client = DNSClient()
        for zone in Self.primaries.map(\.zone) {
            let answer = try await client.ask(Question(zone, .soa), of: .resolver)
            #expect(answer.message.answers.count == 1 && answer.message.responseCode == 0)
            #expect(try !answer.isAuthenticated && answer.server == Self.server("10.53.0.1"))
        }
        await client.shutdown()
    }

    @Test("An update with the right key is done, and once more is refused by its prerequisite", arguments: primaries)
    func updates(_ primary: Primary) async throws {
        let client = DNSClient()
        let (update, key) = (try primary.update("fine"), try Self.key())
        #expect(try await client.update(update, at: primary.server, key: key) == UpdateAnswer(responseCode: 0))
        let again = try await client.update(update, at: primary.server, key: key)
        #expect(again == UpdateAnswer(responseCode: ResponseCode.nameExists))
        let owner = try primary.name("fine._http._tcp")
        let answer = try await client.ask(Question(owner, .txt), of: .server(primary.server))
        #expect(answer.message.answers.map(\.data) == [.txt([1, 65])])
        let end = Message.update(zone: primary.zone, changes: [.deleting(owner, .txt)])
        #expect(try await client.update(end, at: primary.server, key: key) == UpdateAnswer(responseCode: 0))
        await client.shutdown()
    }

    @Test("Wrong secret, unknown key and no key are told apart, as hints only, within 5 s", arguments: primaries)
    func refusals(_ primary: Primary) async throws {
        let client = DNSClient()
        let isPowerDNS = primary.testDescription == "PowerDNS"
        func outcome(_ key: TSIGKey?) async throws -> UpdateAnswer {
            let start = ContinuousClock.now
            let answer = try await client.update(primary.update("refused"), at: primary.server, key: key)
            #expect(ContinuousClock.now - start < .seconds(5))
            return answer
        }
        func hint(_ error: UInt16) -> UpdateAnswer {
            isPowerDNS
                ? UpdateAnswer(responseCode: ResponseCode.refused, isTrusted: false)
                : UpdateAnswer(responseCode: ResponseCode.notAuthoritative, signatureError: error, isTrusted: false)
        }
        #expect(try await outcome(Self.key(secret: "another secret")) == hint(ResponseCode.badSignature))
        #expect(try await outcome(Self.key("unknown")) == hint(ResponseCode.badKey))
        let isKnot = primary.testDescription == "Knot"
        #expect(try await outcome(nil).responseCode == (isKnot ? ResponseCode.notAuthoritative : ResponseCode.refused))
        await client.shutdown()
    }

    @Test("A forbidden name: signed by BIND, looks like an unknown key on Knot")
    func forbidden() async throws {
        let client = DNSClient()
        for primary in Self.primaries.prefix(2) {
            let www = ResourceRecord(try primary.name("www"), .a, .a(1), ttl: 60)
            let answer = try await client.update(
                .update(zone: primary.zone, changes: [www]), at: primary.server, key: try Self.key())
            #expect(
                answer
                    == (primary.testDescription == "BIND"
                        ? UpdateAnswer(responseCode: ResponseCode.refused)
                        : UpdateAnswer(
                            responseCode: ResponseCode.notAuthoritative, signatureError: ResponseCode.badKey,
                            isTrusted: false)))
        }
        await client.shutdown()
    }

    @Test("A clock that is wrong: signed, with the server's time")
    func clock() async throws {
        for primary in Self.primaries.prefix(2) {
            let now = WallClock.seconds
            let pending = try PendingUpdate(primary.update("late"), id: 7, key: try Self.key(), at: now - 600)
            var state = pending
            let answer = try await OneAnswer.over(primary.server, pending.request)
            let outcome = state.receive(answer, at: now - 600)
            guard case .done(let told) = outcome else {
                Issue.record("\(outcome)")
                continue
            }
            #expect(told.responseCode == ResponseCode.notAuthoritative && told.isTrusted)
            #expect(told.signatureError == ResponseCode.badTime)
            let time = try #require(told.serverTime)
            #expect(now - 5...now + 5 ~= time)
        }
    }

    @Test("A zone that is not served, and a resolver in a server's place")
    func notServed() async throws {
        let client = DNSClient()
        let foreign = Message.update(
            zone: try Self.name("other.example.net"), changes: [.deleting(try Self.name("a.other.example.net"), .txt)])
        for primary in Self.primaries.prefix(2) {
            let answer = try await client.update(foreign, at: primary.server, key: try Self.key())
            #expect(answer.responseCode == ResponseCode.notAuthoritative && answer.signatureError == nil)
        }
        let update = try Self.primaries[0].update("lost")
        let unbound = try await client.update(update, at: Self.server("10.53.0.1"), key: try Self.key())
        #expect(unbound == UpdateAnswer(responseCode: ResponseCode.notImplemented, isTrusted: false))
        let bind = try await client.update(update, at: Self.server("10.53.0.3"), key: try Self.key())
        #expect(bind.responseCode == ResponseCode.notAuthoritative && !bind.isTrusted)
        await client.shutdown()
    }

    @Test("A dead server is told at once where its host says so, else within 5 s", .timeLimit(.minutes(5)))
    func dead() async throws {
        let client = DNSClient()
        for address in ["10.53.0.1", "10.53.9.9"] {
            let server = ServerAddress(try #require(IPAddress(address)), port: try Port(5399))
            let start = ContinuousClock.now
            await #expect(throws: DNSFailure.self) {
                try await client.ask(Question(.root, .soa), of: .server(server))
            }
            await #expect(throws: DNSFailure.self) {
                try await client.update(Self.primaries[0].update("dead"), at: server, key: try Self.key())
            }
            #expect(ContinuousClock.now - start < .seconds(address == "10.53.0.1" ? 2 : 9))
        }
        await client.shutdown()
    }

    @Test("90 PTRs come over TCP, whole; 200 questions at once are all answered")
    func many() async throws {
        let client = DNSClient()
        for primary in Self.primaries.prefix(2) {
            let type = try primary.name("_many._tcp")
            let records = try (0..<90).map { number in
                ResourceRecord(type, .ptr, .ptr(try primary.name("Service \(number)._many._tcp")), ttl: 60)
            }
            let update = Message.update(zone: primary.zone, changes: records)
            #expect(try await client.update(update, at: primary.server, key: try Self.key()).responseCode == 0)
            for whom in [DNSTarget.server(primary.server), .resolver] {
                let answer = try await client.ask(Question(type, .ptr), of: whom)
                #expect(answer.message.answers.count == 90 && !answer.message.flags.contains(.truncated))
            }
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        try await client.ask(Question(type, .ptr), of: .server(primary.server)).message.answers.count
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts == [Int](repeating: 90, count: 200))
        }
        await client.shutdown()
    }
}
