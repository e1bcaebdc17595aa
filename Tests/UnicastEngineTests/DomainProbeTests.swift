import DNSMessage
import DNSSD
import Testing

@testable import UnicastEngine

/// What `doctor` says of a domain.
@Suite struct DomainProbeTests {
    /// What the resolver says to the question for a host's address.
    enum Resolver: Sendable {
        case address
        case code(UInt16)
        case silence
    }

    /// A zone's server that does not answer for one list.
    private struct SilentExchange: DNSExchange {
        let server: ScriptedServer
        let silent: Question

        func ask(_ question: Question, of whom: DNSTarget) async throws(DNSFailure) -> DNSAnswer {
            if question == silent {
                // Until it is cancelled.
                try? await Task.sleep(for: .seconds(3600))
                throw .silent("nobody")
            }
            return try server.answer(question)
        }

        func update(
            _ update: Message, at server: ServerAddress, key: TSIGKey?
        ) async throws(DNSFailure) -> UpdateAnswer { throw .impossible("not here") }
    }

    /// A zone's server, and a resolver that differs from it in the addresses of the host alone.
    private struct Exchange: DNSExchange {
        let server: ScriptedServer
        let resolver: Resolver

        func ask(_ question: Question, of whom: DNSTarget) async throws(DNSFailure) -> DNSAnswer {
            var answer = try server.answer(question)
            guard whom == .resolver, question == Question(name("h1.home.example.org"), .a) else { return answer }
            switch resolver {
            case .address: break
            case .code(let code): answer.message = Message(flags: Message.Flags(rawValue: code))
            case .silence: throw .silent("nobody")
            }
            return answer
        }

        func update(
            _ update: Message, at server: ServerAddress, key: TSIGKey?
        ) async throws(DNSFailure) -> UpdateAnswer { throw .impossible("not here") }
    }

    private func saysThatAddressesAreWithheld(
        _ resolver: Resolver, _ settings: DomainSettings
    ) async -> Bool {
        let server = ScriptedServer()
        server.add("Tony")
        server.change { zone in
            zone.records[Question(name("ns.home.example.org"), .a)] = [.a(0x0A35_0035)]
            zone.records[Question(name("_services._dns-sd._udp.home.example.org"), .ptr)] = [
                .ptr(name("_http._tcp.home.example.org"))
            ]
        }
        let findings = await DomainProbe(settings, exchange: Exchange(server: server, resolver: resolver)).run()
        #expect(findings.first?.verdict == .ok, "\(findings)")
        return findings.contains { $0.verdict == .fail && $0.text.contains("rebinding") }
    }

    @Test func aResolverThatSaysThatThereIsNoAddressWithholdsIt() async throws {
        let settings = DomainSettings(try Domain("home.example.org"))
        #expect(await saysThatAddressesAreWithheld(.code(ResponseCode.noError), settings))
        #expect(await !saysThatAddressesAreWithheld(.address, settings))
    }

    @Test func aResolverThatFailsOrDoesNotKnowTheZoneIsNotAccused() async throws {
        let settings = DomainSettings(try Domain("home.example.org"))
        for code in [ResponseCode.noSuchName, ResponseCode.serverFailure, ResponseCode.refused] {
            #expect(await !saysThatAddressesAreWithheld(.code(code), settings), "\(code)")
        }
        #expect(await !saysThatAddressesAreWithheld(.silence, settings))
    }

    @Test func thatNotAllListsWereLookedThroughIsSaid() async throws {
        let address = try #require(IPAddress("10.53.0.53"))
        let settings = DomainSettings(
            try Domain("home.example.org"), server: ServerName(.address(address), port: try Port(53)))
        let server = ScriptedServer()
        let list = Question(name("_http._tcp.home.example.org"), .ptr)
        server.change { zone in
            zone.records[Question(name("_services._dns-sd._udp.home.example.org"), .ptr)] = [.ptr(list.name)]
        }
        func finds(silent: Question, within patience: Duration) async -> [DomainProbe.Finding] {
            let exchange = SilentExchange(server: server, silent: silent)
            let findings = await DomainProbe(settings, exchange: exchange, patience: patience).run()
            return findings.filter { $0.text.contains("not all lists") }
        }
        let cut = await finds(silent: list, within: .milliseconds(10))
        #expect(cut.map(\.verdict) == [.warn])
        let other = Question(name("_ipp._tcp.home.example.org"), .ptr)
        let whole = await finds(silent: other, within: .seconds(60))
        #expect(whole.isEmpty)
    }

    @Test func whereAServerIsNamedTheResolverIsNotJudged() async throws {
        let address = try #require(IPAddress("10.53.0.53"))
        let settings = DomainSettings(
            try Domain("home.example.org"), server: ServerName(.address(address), port: try Port(53)))
        #expect(await !saysThatAddressesAreWithheld(.code(ResponseCode.noError), settings))
    }
}
