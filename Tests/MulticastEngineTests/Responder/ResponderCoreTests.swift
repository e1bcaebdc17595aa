import DNSSD
import Discovery
import DiscoverySystem
import Records
import Testing

@testable import MulticastEngine

@Suite("all publications of a process", .timeLimit(.minutes(1)))
struct ResponderCoreTests {
    @Test("after the engine's end what ends has ended, and what begins has failed")
    func afterEnd() async throws {
        // It does not run: what is called is done here.
        let loop = try #require(EventLoop(paused: "test"))
        let core = try #require(ResponderCore(loop: loop))
        var ended: [Int] = []
        core.endAll { ended.append(0) }
        core.end(1) { ended.append(1) }
        #expect(ended == [0, 1])
        let (facts, reporting) = AsyncStream<PublicationFact>.makeStream()
        let service = try OfferedService(name: "tony", type: "_witap._tcp", port: 80)
        let publication = WirePublication(
            service, Registration(of: service, policy: .rename), number: 2, isProven: false,
            report: { reporting.yield($0) })
        core.start(publication)
        let fact = await facts.first { _ in true }
        #expect(fact?.state == .failed(DiscoveryError(.closed, "the engine was shut down")))
        #expect(core.openObjects == 0)
    }

    @Test("a TXT record that no message can carry beside the name is refused, whatever host the service has")
    func tooLong() throws {
        let host = try OfferedHost(name: try HostName("h2.local"), addresses: [.v4(IPv4Address(bits: 0x0A00_0002))])
        for (last, code) in [(181, .invalidTXTRecord), (81, nil)] as [(Int, DiscoveryError.Code?)] {
            var txt = TXTRecord()
            for number in 10..<44 { try txt.append(key: "k\(number)", value: [UInt8](repeating: 0x78, count: 251)) }
            try txt.append(key: "end", value: [UInt8](repeating: 0x78, count: last))
            #expect(txt.wireSize == 8709 + last)
            for host in [nil, host] {
                var service = try OfferedService(name: "tony", type: "_witap._tcp", port: 80, txt: txt)
                service.host = host
                let publication = WirePublication(
                    service, Registration(of: service, policy: .rename), number: 1, isProven: false, report: { _ in })
                #expect(ResponderCore.fault(of: publication)?.code == code, "\(last)")
            }
        }
    }
}
