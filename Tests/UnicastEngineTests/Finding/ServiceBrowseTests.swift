import DNSMessage
import DNSSD
import Discovery
import DiscoverySystem
import Foundation
import Testing

@testable import UnicastEngine

@Suite struct ServiceBrowseTests {
    private let server = ScriptedServer()

    @Test func aServiceIsToldWithHostPortTextAndBothAddresses() throws {
        server.add("Tony")
        var play = try Play(server)
        let facts = play.run(until: .seconds(1))
        #expect(facts.first == .backend(.up))
        #expect(facts.appeared == ["Tony"])
        #expect(facts.count { $0 == .listed } == 1)
        let resolution = try #require(facts.resolutions.first)
        #expect(facts.resolutions.count == 1)
        #expect(resolution.origin == .unicast && resolution.host.text == "h1.home.example.org")
        #expect(resolution.port?.rawValue == 80 && resolution.txt.text(for: "k") == "v")
        #expect(resolution.addresses.map { "\($0)" } == ["10.53.1.7", "fd53:1::7"])
    }

    @Test func hostsAreAskedOnceForAllTheirServices() throws {
        for number in 0..<50 { server.add("s\(number)", host: "h\(number % 5)") }
        var play = try Play(server)
        let facts = play.run(until: .seconds(1))
        #expect(facts.resolutions.count == 50)
        #expect(server.takeCount() == 1 + 2 * 50 + 2 * 5)
        #expect(play.mostAtOnce <= 16)
    }

    /// The more names there are, the less often the same is asked for.
    @Test func aZoneOfManyNamesThatNeverLastIsAskedWithinABudget() throws {
        for number in 0..<400 { server.add("s\(number)", host: "h\(number)") }
        server.change { ($0.ttl, $0.serialTTL) = (0, 0) }
        var play = try Play(server)
        #expect(play.run(until: .seconds(1)).resolutions.count == 400)
        _ = server.takeCount()
        for second in stride(from: 6, through: 101, by: 5) {
            // Another serial, so that each has to be asked for.
            server.change { _ in }
            _ = play.run(until: .seconds(second))
        }
        let (lists, others) = (
            server.asked.count { $0.type == .ptr }, server.asked.count { ![.ptr, .soa].contains($0.type) }
        )
        #expect((1600...5100).contains(others) && lists >= 15, "\(lists) \(others)")
        // The list itself is asked for as before.
        server.remove("s7")
        #expect(play.run(until: .seconds(125)).gone == ["s7"])
    }

    @Test func whatIsNewIsAskedAtOnceUntilTheBudgetIsSpent() {
        var budget = QuestionBudget.whole
        func spend(at now: Duration) -> Int {
            var count = 0
            while budget.take(at: now) { count += 1 }
            return count
        }
        #expect(spend(at: .seconds(1)) == 10_000)
        let next = budget.next(at: .seconds(1))
        #expect(next > .seconds(1) && next < .seconds(1.1))
        #expect(spend(at: next) == 1)
        #expect(99...101 ~= spend(at: .seconds(2)) && 999...1001 ~= spend(at: .seconds(12)))
        #expect(spend(at: .seconds(10_000)) == 10_000)
    }

    @Test func aSmallZoneIsAskedAsOftenAsItsTTLSays() throws {
        for number in 0..<50 { server.add("s\(number)", host: "h") }
        server.change { ($0.ttl, $0.serialTTL) = (10, 0) }
        var play = try Play(server)
        _ = play.run(until: .seconds(1))
        server.change { zone in
            for (question, records) in zone.records
            where question.type == .txt && records == [.txt([3] + Array("k=v".utf8))] {
                zone.records[question] = [.txt([3] + Array("k=w".utf8))]
            }
        }
        #expect(play.run(until: .seconds(16)).resolutions.count == 50)
    }

    @Test func aServiceAtAnAddressOfThisMachineIsItsOwnIfAnIdOfItSaysSo() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "own-\(UUID().uuidString)")
            .path(percentEncoded: false)
        let id = PublisherIdentity(directory: directory).id.derived(for: "machine")
        let here = LocalAddresses.Entry(
            interface: NetworkInterface(index: 2, name: "eth0"), address: .v4(IPv4Address(bits: 0x0A35_0107)),
            prefixLength: 24)
        for service in ["mine", "theirs", "nobodys"] { server.add(service) }
        let (mine, theirs) = (name("mine._http._tcp.home.example.org"), name("theirs._http._tcp.home.example.org"))
        server.change { zone in
            zone.records[Question(mine, .dhcid)] = [id.ownership(of: mine)]
            zone.records[Question(theirs, .dhcid)] = [PublisherID().ownership(of: theirs)]
        }
        func own(_ addresses: LocalAddresses) throws -> [String] {
            let target = ServiceQuery.Target.type(try ServiceType("_http._tcp"), try Domain("home.example.org"))
            let own = OwnServices(directory: directory, machine: "machine") { addresses }
            var play = Play(ServerBrowse(ServiceQuery(target, resolution: .watch), own: own), server)
            let facts = play.run(until: .seconds(1))
            #expect(facts.resolutions.count == 3)
            return facts.compactMap { fact in
                if case .appeared(let sighting) = fact, sighting.isOwn { sighting.instance.name.text } else { nil }
            }
        }
        let found = try own(LocalAddresses(entries: [here]))
        #expect(found == ["mine"])
        _ = server.takeCount()
        #expect(try own(LocalAddresses(entries: [])).isEmpty)
        #expect(!server.asked.contains { $0.type == .dhcid }, "asked where it matters alone")
    }

    @Test func additionalsAreUsed() throws {
        server.add("Tony")
        server.change { $0.sendsAdditionals = true }
        var play = try Play(server)
        #expect(play.run(until: .seconds(1)).resolutions.first?.addresses.count == 2)
        #expect(server.takeCount() == 3)
    }

    @Test func withoutResolvingOnlyTheListIsAsked() throws {
        server.add("Tony")
        var play = try Play(server, resolution: .none)
        let facts = play.run(until: .seconds(1))
        #expect(facts.appeared == ["Tony"] && facts.resolutions.isEmpty && facts.contains(.listed))
        #expect(server.takeCount() == 1)
    }

    @Test func askedOnceNothingButTheListIsAskedAgain() throws {
        server.add("Tony")
        var play = try Play(server, resolution: .once)
        #expect(play.run(until: .seconds(1)).resolutions.count == 1)
        _ = server.takeCount()
        #expect(play.run(until: .seconds(300)).isEmpty)
        #expect(server.asked.allSatisfy { [.ptr, .soa].contains($0.type) }, "\(server.asked)")
    }

    @Test func overOneFamilyOnlyItsAddressesAreAsked() throws {
        server.add("Tony")
        var play = try Play(server, family: .ipv6)
        #expect(play.run(until: .seconds(1)).resolutions.first?.addresses.map(\.family) == [.ipv6])
        #expect(!server.asked.contains { $0.type == .a })
    }

    @Test func whatComesAndGoesIsToldWithinTheTTL() throws {
        server.add("Tony")
        server.add("stays")
        var play = try Play(server)
        _ = play.run(until: .seconds(100))
        server.add("new")
        server.remove("Tony")
        let facts = play.run(until: .seconds(160))
        #expect(facts.appeared == ["new"] && facts.gone == ["Tony"])
        #expect(facts.resolutions.map(\.instance.name.text) == ["new"])
    }

    @Test func aChangedTextIsToldWithinTheTTL() throws {
        server.add("Tony")
        var play = try Play(server)
        _ = play.run(until: .seconds(100))
        server.change {
            $0.records[Question(name("Tony._http._tcp.home.example.org"), .txt)] = [.txt([3, 0x6B, 0x3D, 0x77])]
        }
        let facts = play.run(until: .seconds(160))
        #expect(facts.resolutions.map { $0.txt.text(for: "k") } == ["w"])
    }

    @Test func theLastOneIsHeldForTenSeconds() throws {
        server.add("Tony")
        var play = try Play(server)
        _ = play.run(until: .seconds(1))
        server.remove("Tony")
        _ = server.takeCount()
        // Asked at 60 s at the latest, and again at once.
        #expect(play.run(until: .seconds(63)).gone.isEmpty)
        #expect(server.asked.count { $0.type == .ptr } >= 2)
        #expect(play.run(until: .seconds(75)).gone == ["Tony"])
    }

    @Test func aNoFromAnotherResolverIsHeldForATTL() throws {
        server.add("Tony")
        var play = try Play(server)
        _ = play.run(until: .seconds(1))
        let records = server.zone.withLock { $0.records }
        server.change {
            $0.records = [:]
            $0.address += 1
        }
        #expect(play.run(until: .seconds(110)).gone.isEmpty)
        server.change {
            $0.records = records
            $0.address -= 1
        }
        #expect(play.run(until: .seconds(300)).gone.isEmpty)
    }

    @Test func aFailureKeepsWhatIsKnown() throws {
        server.add("Tony")
        var play = try Play(server)
        _ = play.run(until: .seconds(1))
        server.change { $0.failure = .silent("10.53.0.53 does not answer") }
        let facts = play.run(until: .seconds(600))
        #expect(facts.gone.isEmpty && facts.failed.isEmpty)
        #expect(facts.degraded.first?.contains("10.53.0.53 does not answer") == true)
        #expect(facts.states == [.down("10.53.0.53 does not answer")])
        #expect(!play.rules.troubles.isEmpty)
        server.change { $0.failure = nil }
        let later = play.run(until: .seconds(700))
        #expect(later.first == .backend(.up))
        #expect(later.appeared == ["Tony"] && later.gone.isEmpty && later.count { $0 == .listed } == 1)
        #expect(play.rules.troubles.isEmpty)
    }

    @Test(arguments: [(UInt16(2), "SERVFAIL"), (5, "REFUSED"), (4, "error 4")])
    func anErrorIsNotTheEnd(_ code: UInt16, _ word: String) throws {
        server.add("Tony")
        var play = try Play(server)
        _ = play.run(until: .seconds(1))
        server.change { $0.code = code }
        let facts = play.run(until: .seconds(300))
        #expect(facts.gone.isEmpty)
        #expect(facts.degraded.first?.contains(word) == true, "\(facts)")
    }

    @Test func nobodyAnswersAtTheStart() throws {
        server.add("Tony")
        server.change { $0.failure = .silent("nobody") }
        var play = try Play(server)
        #expect(play.run(until: .seconds(1)) == [.backend(.down("nobody"))])
        server.change { $0.failure = nil }
        let facts = play.run(until: .seconds(6))
        #expect(facts.first == .backend(.up) && facts.appeared == ["Tony"] && facts.contains(.listed))
    }

    @Test func addressesThatAreWithheldAreNamed() throws {
        server.add("Tony")
        server.change { $0.withholdsAddresses = true }
        var play = try Play(server)
        let facts = play.run(until: .seconds(1))
        #expect(facts.degraded.count == 1 && facts.degraded.first?.contains("rebinding") == true, "\(facts)")
        #expect(facts.resolutions.last?.withheld?.contains("rebinding") == true)
        server.change { $0.withholdsAddresses = false }
        let last = try #require(play.run(until: .seconds(200)).resolutions.last)
        #expect(last.addresses.count == 2 && last.withheld == nil)
    }

    @Test func aHostOfWhichItsOwnServerKnowsNoAddressHasNone() throws {
        server.add("Tony")
        server.change { zone in
            for type in [RecordType.a, .aaaa] { zone.records[Question(name("h1.home.example.org"), type)] = [] }
            zone.records[Question(name("h1.home.example.org"), .txt)] = [.txt([0])]
        }
        var play = try Play(server)
        let facts = play.run(until: .seconds(1))
        #expect(facts.resolutions.last?.addresses.isEmpty == true && facts.resolutions.last?.withheld == nil)
        #expect(facts.degraded.isEmpty)
    }

    @Test func addressesThatNoHostCanHaveAreLeftOut() throws {
        server.add("Tony")
        server.change { zone in
            zone.records[Question(name("h1.home.example.org"), .a)] = [.a(0), .a(0xE000_0001), .a(0x0A35_0107)]
        }
        var play = try Play(server)
        let resolutions = play.run(until: .seconds(1)).resolutions
        #expect(resolutions.map { $0.addresses.map { "\($0)" } } == [["10.53.1.7", "fd53:1::7"]])
    }

    @Test func itIsAuthenticatedWhereAllItsRecordsAre() throws {
        server.add("Tony")
        server.change { $0.isAuthenticated = true }
        var play = try Play(server)
        #expect(play.run(until: .seconds(1)).resolutions.map(\.isAuthenticated).last == true)
        for type in [RecordType.srv, .txt, .a, .aaaa] {
            server.change { $0.unauthenticated = [type] }
            var play = try Play(server)
            #expect(play.run(until: .seconds(1)).resolutions.map(\.isAuthenticated).last == false, "\(type)")
        }
        server.change { ($0.unauthenticated, $0.sendsAdditionals) = ([], true) }
        _ = server.takeCount()
        var again = try Play(server)
        #expect(again.run(until: .seconds(1)).resolutions.map(\.isAuthenticated).last == true)
        #expect(server.takeCount() == 5, "what came beside an answer was believed")
    }

    @Test func namesThatAreNoneOfServicesAreLeftOutAndCounted() throws {
        server.add("Tony")
        server.change { zone in
            let list = name("_http._tcp.home.example.org")
            guard let broken = try? DomainName(labels: [[0xFF, 0xFE]] + list.labels.map { Array($0) }) else { return }
            zone.records[Question(list, .ptr)]? += [.ptr(broken), .ptr(name("x._http._tcp.elsewhere.example"))]
        }
        var play = try Play(server)
        let facts = play.run(until: .seconds(1))
        #expect(facts.appeared == ["Tony"])
        #expect(facts.degraded.first?.hasPrefix("2 names") == true, "\(facts.degraded)")
    }

    @Test func aListedServiceWithoutRecordsFails() throws {
        server.add("Tony")
        server.change { $0.records[Question(name("Tony._http._tcp.home.example.org"), .srv)] = nil }
        var play = try Play(server)
        #expect(play.run(until: .seconds(1)).failed == ["Tony"])
    }
}

@Suite struct OneServiceTests {
    private let server = ScriptedServer()

    @Test func itIsToldWithItsResolutionThenListed() throws {
        server.add("Tony")
        var play = try Play(instance: "Tony", server)
        let facts = play.run(until: .seconds(1))
        #expect(facts.appeared == ["Tony"] && facts.resolutions.count == 1 && facts.last == .listed)
        #expect(server.takeCount() == 4)
    }

    @Test func itsNameStaysAsItWasAskedFor() throws {
        server.add("tony")
        var play = try Play(instance: "Tony", server)
        #expect(play.run(until: .seconds(1)).appeared == ["Tony"])
    }

    @Test func itIsNotThereThenComesAndGoes() throws {
        var play = try Play(instance: "Tony", server)
        #expect(play.run(until: .seconds(1)) == [.backend(.up), .listed])
        server.add("Tony")
        #expect(play.run(until: .seconds(12)).appeared == ["Tony"])
        server.remove("Tony")
        #expect(play.run(until: .seconds(90)).gone == ["Tony"])
        server.add("Tony")
        #expect(play.run(until: .seconds(110)).appeared == ["Tony"])
    }
}
