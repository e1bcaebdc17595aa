import DNSSD
import Testing

@testable import Discovery

@Suite("RFC 2782: several SRV records")
struct TargetOrderTests {
    private func target(_ host: String, _ priority: UInt16, _ weight: UInt16) throws -> ServiceTarget {
        ServiceTarget(host: try HostName(host), priority: priority, weight: weight)
    }

    @Test func aLowerPriorityComesFirstWhateverTheWeights() throws {
        let (first, last) = (try target("a", 1, 0), try target("b", 2, 65_535))
        for seed in 0..<20 as Range<UInt64> {
            #expect(TargetOrder.sorted([first, last], seed: seed) == [first, last])
        }
    }

    @Test func weightsAreChances() throws {
        let (heavy, light) = (try target("a", 0, 3), try target("b", 0, 1))
        let heavyFirst = (0..<2000 as Range<UInt64>).count {
            TargetOrder.sorted([heavy, light], seed: $0).first == heavy
        }
        // 3 of 4, and 4 of 5 because the RFC's "less than or equal" counts marks from 0 to 4; ±5 standard deviations.
        #expect((1350...1750).contains(heavyFirst), "\(heavyFirst)")
    }

    @Test func noneIsLeftOut() throws {
        let targets = Set(try (0..<8 as Range<UInt16>).map { try target("h\($0)", $0 / 4, $0 % 3) })
        #expect(Set(TargetOrder.sorted(targets, seed: 7)) == targets)
        #expect(TargetOrder.sorted(targets, seed: 7) == TargetOrder.sorted(targets, seed: 7))
    }

    @Test func endpointsAreDialledByPriority() throws {
        let (near, far) = (try target("a", 5, 0), try target("b", 1, 0))
        let endpoints = try [("10.0.0.9", near), ("10.0.0.8", far), ("10.0.0.7", near)].map { text, target in
            Endpoint(address: try parsed(text), port: try Port(80), interface: eth0, target: target)
        }
        let order = EndpointOrder(local: LocalAddresses(entries: []))
        #expect(order.sorted(endpoints, now: .zero).map(\.target) == [far, near, near])
    }
}
