import DNSSD
import MulticastEngine
import Testing

@Suite("Port 5353")
struct SharedPortTests {
    @Test("It is taken where no socket of one family can be had on any link, and not for one link's sake")
    func taken() {
        #expect(!SharedPort.isTaken([]))
        #expect(!SharedPort.isTaken([(.ipv4, false), (.ipv6, false)]))
        #expect(SharedPort.isTaken([(.ipv4, true), (.ipv6, false)]))
        #expect(SharedPort.isTaken([(.ipv4, true), (.ipv4, true)]))
        #expect(!SharedPort.isTaken([(.ipv4, true), (.ipv4, false), (.ipv6, false)]))
    }
}
