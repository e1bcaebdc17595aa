import DNSMessage
import DNSSD
import Discovery
import Records
import Testing

@testable import UnicastEngine

@Suite struct DomainEnumerationTests {
    private func list(_ names: [DomainName]) -> ServerBrowse<ListGraph<Domain>> {
        ServerBrowse(ListGraph(names, at: .unicast) { Domain(labels: $0.labels) })
    }

    @Test func searchDomainsAndNetworksAreAsked() throws {
        let surroundings = Surroundings(
            searchDomains: [try Domain("home.example.org"), .local],
            networks: [try CIDR("10.53.1.0/24"), try CIDR("fd53:1::/64")])
        let zeros = String(repeating: "0.", count: 24)
        #expect(
            surroundings.names(for: .registration).map(\.description) == [
                "r._dns-sd._udp.home.example.org.", "r._dns-sd._udp.0.1.53.10.in-addr.arpa.",
                "r._dns-sd._udp.\(zeros)1.0.0.0.3.5.d.f.ip6.arpa.",
            ])
        #expect(surroundings.names(for: .browsing).count == 6)
    }

    @Test func whatSeveralNamesListIsOneList() throws {
        let server = ScriptedServer()
        let (home, other) = (name("home.example.org"), name("other.example"))
        server.change {
            $0.records[Question(name("b._dns-sd._udp.home.example.org"), .ptr)] = [.ptr(home), .ptr(other)]
            $0.records[Question(name("lb._dns-sd._udp.home.example.org"), .ptr)] = [.ptr(home)]
        }
        let surroundings = Surroundings(searchDomains: [try Domain("home.example.org")], networks: [])
        var play = Play(list(surroundings.names(for: .browsing)), server)
        let facts = play.run(until: .seconds(1))
        #expect(
            facts == [
                .backend(.up), .appeared(try Domain("home.example.org"), .unicast),
                .appeared(try Domain("other.example"), .unicast), .listed,
            ])
    }

    @Test func withoutAnythingToAskTheListIsCompleteAtOnce() {
        var play = Play(list([]), ScriptedServer())
        #expect(play.run(until: .seconds(1)) == [.backend(.up), .listed])
    }

    @Test func moreThanAreKeptIsSaidAndWhatIsKnownStays() throws {
        let server = ScriptedServer()
        let list = name("b._dns-sd._udp.home.example.org")
        let all = (0..<4102).map { RecordData.ptr(name("d\($0).example")) }
        server.change { $0.records[Question(list, .ptr)] = all }
        var play = Play(self.list([list]), server)
        let facts = play.run(until: .seconds(1))
        #expect(facts.count { if case .appeared = $0 { true } else { false } } == 4096)
        #expect(facts.count { if case .degraded = $0 { true } else { false } } == 1)
        #expect(play.rules.troubles.count == 1)
        server.change { $0.records[Question(list, .ptr)] = all.reversed() }
        #expect(play.run(until: .seconds(75)) == [])
        server.change { $0.records[Question(list, .ptr)] = Array(all.prefix(10)) }
        #expect(play.run(until: .seconds(150)).count == 4086)
        #expect(play.rules.troubles.isEmpty)
    }

    @Test func typesComeAndGo() throws {
        let server = ScriptedServer()
        let (list, domain) = (name("_services._dns-sd._udp.home.example.org"), try Domain("home.example.org"))
        server.change { $0.records[Question(list, .ptr)] = [.ptr(name("_http._tcp.home.example.org"))] }
        var play = Play(
            ServerBrowse(
                ListGraph([list], at: .unicast) { listed in
                    ServiceType(listed: listed, in: domain).map { TypeKey(type: $0, domain: domain) }
                }), server)
        let key = TypeKey(type: try ServiceType("_http._tcp"), domain: domain)
        #expect(play.run(until: .seconds(1)) == [.backend(.up), .appeared(key, .unicast), .listed])
        server.change { $0.records[Question(list, .ptr)] = [] }
        #expect(play.run(until: .seconds(75)) == [.disappeared(key, .unicast)])
    }
}
