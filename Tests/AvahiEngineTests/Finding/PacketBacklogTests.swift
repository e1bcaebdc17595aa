import DNSSD
import System
import Testing

@testable import AvahiEngine

@Suite("what the mDNS sockets have not read")
struct PacketBacklogTests {
    private static let sockets = BoundSocket.all(
        in: Array(
            """
            sl
            1: 00000000:14E9 00000000:0000 07 00000000:00000300 00:0 0 102 0 18532 2 0 0
            2: 00000000:0035 00000000:0000 07 00000000:00000900 00:0 0 102 0 18533 2 0 0
            3: 00000000:14E9 00000000:0000 07 00000000:00000010 00:0 0 102 0 18534 2 0 0
            """.utf8), family: .ipv4)
    private static let snmp = """
        Ip: Forwarding RcvbufErrors
        Ip: 1 99
        Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors
        Udp: 3851 71 0 3944 12 0
        UdpLite: InDatagrams RcvbufErrors
        UdpLite: 0 5
        """

    @Test func isOfThePortAndOfBothFamilies() {
        let backlog = PacketBacklog(
            sockets: Self.sockets, snmp: Self.snmp, snmp6: "Udp6InErrors \t3\nUdp6RcvbufErrors          \t30\n")
        #expect(backlog?.waiting == 0x310)
        #expect(backlog?.lost == 42)
        #expect(PacketBacklog(sockets: Self.sockets, snmp: Self.snmp, snmp6: "")?.lost == 12)
    }

    @Test func isUnknownWhereAvahiIsElsewhereOrTheKernelSaysSomethingElse() {
        #expect(PacketBacklog(sockets: [Self.sockets[1]], snmp: Self.snmp, snmp6: "") == nil)
        for snmp in ["", "Udp: RcvbufErrors", "Udp: RcvbufErrors\nUdp: x", "Udp: A RcvbufErrors\nUdp: 1"] {
            #expect(PacketBacklog(sockets: Self.sockets, snmp: snmp, snmp6: "") == nil)
        }
    }
}
