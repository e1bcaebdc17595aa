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
        #expect(asked.map { doubts.isNew($0.0, now: .milliseconds($0.1)) } == [true, false, true, true])
    }

    @Test func theNumberAtATimeIsBounded() throws {
        var doubts = Doubts()
        let services = try (0...Doubts.capacity).map { try service($0) }
        #expect(services.map { doubts.isNew($0, now: .seconds(1)) }.count { $0 } == Doubts.capacity)
        #expect(services.suffix(1).map { doubts.isNew($0, now: .seconds(11)) } == [true])
    }
}
