import DNSSD
import Glibc
import Testing

@testable import DiscoverySystem

@Suite struct BoundSocketTests {
    @Test func readsWhatTheKernelWrites() {
        let text = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
             1093: 00000000:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000   102        0 18532 2 000000003b2a1d7c 0
            34120: 3500007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 9 2 0 12

            """
        let listeners = BoundSocket.all(in: Array(text.utf8), family: .ipv4)
        #expect(listeners.map(\.port) == [5353, 53])
        #expect(listeners.map(\.user) == [102, 0])
        #expect(listeners.map(\.state) == [7, 7])
        #expect(listeners.map(\.inode) == [18532, 9])
    }

    @Test func readsAddressesOfIPv6() {
        let text = """
              sl  local_address                         remote_address                        st tx_queue rx_queue tr …
             1093: 00000000000000000000000000000000:14E9 00000000000000000000000000000000:0000 07 0:0 00:0 0 1000 0 77 2 0 0
            """
        let listener = BoundSocket.all(in: Array(text.utf8), family: .ipv6).first
        #expect(listener?.port == 5353)
        #expect(listener?.inode == 77)
        #expect(listener?.family == .ipv6)
    }

    @Test("a process that only listens to the mDNS group is distinguished")
    func groups() {
        // How this machine writes E0 00 00 FB and FF 02 … FB, as they are on the wire.
        func word(_ value: UInt32) -> String {
            let digits = String(value.bigEndian, radix: 16, uppercase: true)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }
        func line(_ address: String) -> String { "header\n1: \(address):14E9 0:0 07 0:0 0:0 0 0 0 5 2 0 0" }
        let group6 = word(0xFF02_0000) + word(0) + word(0) + word(0xFB)
        #expect(BoundSocket.all(in: Array(line(word(0xE000_00FB)).utf8), family: .ipv4).map(\.isOfGroup) == [true])
        #expect(BoundSocket.all(in: Array(line(group6).utf8), family: .ipv6).map(\.isOfGroup) == [true])
        for (address, family) in [
            (word(0), IPAddress.Family.ipv4), (word(0x7F00_0001), .ipv4), (String(repeating: "0", count: 32), .ipv6),
        ] {
            #expect(BoundSocket.all(in: Array(line(address).utf8), family: family).map(\.isOfGroup) == [false])
        }
    }

    @Test("a connected socket of UDP, state 1, does not hear whoever sends to its port")
    func connected() {
        let text = """
            header
            1: 00000000:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 18532 2 0 0
            2: 0100000A:14E9 0200000A:14E9 01 00000000:00000000 00:00000000 00000000 0 0 18533 2 0 0
            """
        let sockets = BoundSocket.all(in: Array(text.utf8), family: .ipv4)
        #expect(sockets.map(\.port) == [5353, 5353] && sockets.map(\.hearsAnyone) == [true, false])
    }

    @Test(arguments: [
        "", "header only", "header\n1: 0:14E9", "header\n1: 14E9 0:0 07 0:0 0:0 0 0 0 5 2 0 0",
        "header\n1: 0:XYZ 0:0 07 0:0 0:0 0 0 0 5",
        "header\n1: 0:14E9 0:0 07 0:0 0:0 0 -1 0 5 2", "header\n1: 0:14E9F 0:0 07 0:0 0:0 0 0 0 5 2",
        "header\n\u{FF}",
    ])
    func leavesOutWhatItDoesNotUnderstand(_ text: String) {
        #expect(BoundSocket.all(in: Array(text.utf8), family: .ipv4).isEmpty)
    }

    /// A socket of this process, on loopback, on a port that the kernel chose.
    @Test func findsTheProcessThatHoldsAPort() throws {
        let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(socket >= 0)
        defer { close(socket) }
        #expect(SocketAddress(.v4(IPv4Address(bits: 0x7F00_0001)), port: 0).bind(socket) == 0)
        let holders = PortHolder.holders(of: try #require(SocketAddress(of: socket)?.port))
        #expect(holders.map(\.process) == [getpid()])
        #expect(holders.first?.description.contains("(pid \(getpid()))") == true)
    }

    @Test func namesWhatItCanSee() {
        #expect(
            PortHolder(process: 7, name: "avahi\u{1B}", user: 0, inode: 1).description == "avahi\\u{1B} (pid 7)")
        #expect(PortHolder(process: nil, name: nil, user: 102, inode: 9).description.contains("user 102"))
    }
}
