import DNSMessage
import DNSSD
import Discovery
import DiscoverySystem
import Testing

@testable import UnicastEngine

@Suite struct ZoneSerialTests {
    private let server = ScriptedServer()

    @Test func whileTheSerialStaysNothingElseIsAsked() throws {
        for number in 0..<20 { server.add("s\(number)") }
        var play = try Play(server)
        _ = play.run(until: .seconds(100))
        _ = server.takeCount()
        // Known to be of this serial since 60 s.
        _ = play.run(until: .seconds(160))
        #expect(!server.asked.isEmpty && server.asked.allSatisfy { $0.type == .soa }, "\(server.asked)")
        #expect(server.takeCount() <= 3)
    }

    @Test func whenItMovesWhatChangedIsTold() throws {
        server.add("one")
        var play = try Play(server)
        _ = play.run(until: .seconds(220))
        server.add("two")
        #expect(play.run(until: .seconds(280)).appeared == ["two"])
    }

    /// Servers of one zone may lag behind each other.
    @Test func itIsNotBelievedForEver() throws {
        server.add("one")
        var play = try Play(server)
        _ = play.run(until: .seconds(100))
        server.add("two")
        server.zone.withLock { $0.serial -= 1 }
        #expect(play.run(until: .seconds(800)).appeared == ["two"])
    }

    /// What a resolver remembers may be older than the serial that it tells.
    @Test func outOfAMemoryItCountsLater() throws {
        server.add("one")
        server.change { $0.isAuthoritative = false }
        var play = try Play(server)
        _ = play.run(until: .seconds(100))
        _ = server.takeCount()
        _ = play.run(until: .seconds(140))
        #expect(server.asked.contains { $0.type == .ptr })
        _ = server.takeCount()
        _ = play.run(until: .seconds(210))
        #expect(server.asked.allSatisfy { $0.type == .soa }, "\(server.asked)")
    }

    @Test func aSerialThatHoldsLongerThanTheListIsOfNoUse() throws {
        server.add("one")
        server.change {
            $0.serialTTL = 3600
            $0.ttl = 30
        }
        var play = try Play(server)
        _ = play.run(until: .seconds(100))
        server.add("two")
        // A resolver goes on telling the serial of before.
        server.zone.withLock { $0.serial -= 1 }
        #expect(play.run(until: .seconds(131)).appeared == ["two"])
    }
}
