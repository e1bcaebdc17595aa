import DNSSD
import Testing

/// Values whose copies share their storage.
@Suite struct SharedTests {
    @Test("a change of one copy is its own, on whatever thread the others are read")
    func copies() async throws {
        let type = try ServiceType("_shared._tcp")
        let first = DiscoveredService(
            instance: ServiceInstance(name: try ServiceName("one"), type: type), state: .resolved,
            port: Port(rawValue: 1))
        await withTaskGroup { tasks in
            for number in UInt16(2)...65 {
                tasks.addTask {
                    var copy = first
                    copy.port = Port(rawValue: number)
                    copy.subtypes.append("\(number)")
                    #expect(copy.port?.rawValue == number && copy.subtypes == ["\(number)"])
                    #expect(first.port?.rawValue == 1 && first.subtypes.isEmpty && copy != first)
                }
            }
        }
        var same = first
        same.state = .found
        #expect(same != first)
        same.state = .resolved
        #expect(same == first && Set([same, first]).count == 1)
    }
}
