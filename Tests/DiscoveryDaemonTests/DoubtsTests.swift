import DNSSD
import DiscoveryDaemon
import Testing

@Suite struct DoubtsTests {
    private func service(_ number: Int) throws -> ServiceInstance {
        ServiceInstance(name: try ServiceName("s\(number)"), type: try ServiceType("_xx._tcp"))
    }

    @Test func aServiceIsVerifiedOnceInTenSeconds() throws {
        var doubts = Doubts()
        let (one, two) = (try service(1), try service(2))
        let asked: [(ServiceInstance, Int)] = [(one, 1000), (one, 10_999), (two, 10_999), (one, 11_000)]
        #expect(asked.map { doubts.isNew($0.0, for: 1000, now: .milliseconds($0.1)) } == [true, false, true, true])
    }

    @Test func theNumberAtATimeIsBounded() throws {
        var doubts = Doubts()
        let services = try (0...Doubts.capacity).map { try service($0) }
        func ask(_ number: Int, at second: Int) -> Bool {
            doubts.isNew(services[number], for: UInt32(number / Doubts.share), now: .seconds(second))
        }
        #expect(services.indices.map { ask($0, at: 1) }.count { $0 } == Doubts.capacity)
        #expect(ask(Doubts.capacity, at: 11))
    }

    @Test func oneUserLeavesRoomToOthers() throws {
        var doubts = Doubts()
        let services = try (0..<Doubts.capacity).map { try service($0) }
        #expect(services.map { doubts.isNew($0, for: 1000, now: .seconds(1)) }.count { $0 } == Doubts.share)
        #expect(services.suffix(1).map { doubts.isNew($0, for: 1001, now: .seconds(1)) } == [true])
        #expect(services.suffix(2).map { doubts.isNew($0, for: 1000, now: .seconds(11)) } == [true, true])
    }
}
