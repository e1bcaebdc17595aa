import DNSSD
import Glibc
import Testing

@testable import AvahiEngine

@Suite struct UDPListenersTests {
    @Test func readsWhatTheKernelWrites() {
        let text = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
             1093: 00000000:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000   102        0 18532 2 000000003b2a1d7c 0
            34120: 3500007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 9 2 0 12

            """
        let listeners = UDPListener.all(in: text, family: .ipv4)
        #expect(listeners.map(\.port) == [5353, 53])
        #expect(listeners.map(\.user) == [102, 0])
        #expect(listeners.map(\.inode) == [18532, 9])
    }

    @Test func readsAddressesOfIPv6() {
        let text = """
              sl  local_address                         remote_address                        st tx_queue rx_queue tr …
             1093: 00000000000000000000000000000000:14E9 00000000000000000000000000000000:0000 07 0:0 00:0 0 1000 0 77 2 0 0
            """
        let listener = UDPListener.all(in: text, family: .ipv6).first
        #expect(listener?.port == 5353)
        #expect(listener?.inode == 77)
        #expect(listener?.family == .ipv6)
    }

    @Test(arguments: [
        "", "header only", "header\n1: 0:14E9", "header\n1: 14E9 0:0 07 0:0 0:0 0 0 0 5 2 0 0",
        "header\n1: 0:XYZ 0:0 07 0:0 0:0 0 0 0 5",
        "header\n1: 0:14E9 0:0 07 0:0 0:0 0 -1 0 5 2", "header\n1: 0:14E9F 0:0 07 0:0 0:0 0 0 0 5 2",
    ])
    func leavesOutWhatItDoesNotUnderstand(_ text: String) {
        #expect(UDPListener.all(in: text, family: .ipv4).isEmpty)
    }

    /// A socket of this very process, on a port that the kernel chose, on loopback.
    @Test func findsTheProcessThatHoldsAPort() throws {
        let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(socket >= 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        try #require(bound)
        let holders = PortHolder.holders(of: UInt16(bigEndian: address.sin_port))
        #expect(holders.map(\.process) == [getpid()])
        #expect(holders.first?.description.contains("(pid \(getpid()))") == true)
    }

    @Test func namesWhatItCanSee() {
        #expect(
            PortHolder(process: 7, name: "avahi\u{1B}", user: 0, inode: 1).description == "avahi\\u{1B} (pid 7)")
        #expect(PortHolder(process: nil, name: nil, user: 102, inode: 9).description.contains("user 102"))
    }
}
