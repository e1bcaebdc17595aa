import DNSSD
import Testing

@testable import AvahiEngine

@Suite struct CacheGaugeTests {
    private let eth0 = CacheGauge.Place(index: 2, family: .ipv4)
    private let other = CacheGauge.Place(index: 2, family: .ipv6)

    private func instance(_ number: Int) throws -> ServiceInstance {
        ServiceInstance(name: ServiceName(observed: "s\(number)"), type: try ServiceType("_x1._tcp"), domain: .local)
    }

    @Test func isFullAt95PercentOnOneInterfaceAndFamily() throws {
        var gauge = CacheGauge()
        for number in 0..<971 { gauge.appeared(try instance(number), eth0) }
        #expect(!gauge.isFull(eth0))
        gauge.appeared(try instance(971), eth0)
        #expect(gauge.isFull(eth0) && gauge.limit == 972)
        #expect(!gauge.isFull(other))
        gauge.disappeared(try instance(0), eth0)
        #expect(!gauge.isFull(eth0))
    }

    @Test func countsWhatTwoQueriesSeeOnce() throws {
        var gauge = CacheGauge()
        for number in 0..<600 {
            for _ in 0..<2 { gauge.appeared(try instance(number), eth0) }
        }
        #expect(!gauge.isFull(eth0))
        for number in 600..<972 { gauge.appeared(try instance(number), eth0) }
        gauge.disappeared(try instance(5), eth0)
        #expect(gauge.isFull(eth0))
        gauge.disappeared(try instance(5), eth0)
        #expect(!gauge.isFull(eth0))
        gauge.disappeared(try instance(5), eth0)
        #expect(!gauge.isFull(eth0))
    }
}
