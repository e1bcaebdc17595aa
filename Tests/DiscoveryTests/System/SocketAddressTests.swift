import DNSSD
import DiscoverySystem
import Glibc
import Testing

@Suite struct SocketAddressTests {
    @Test(arguments: ["192.0.2.7", "::1", "2001:db8::5", "fe80::1%3"])
    func internetAddressesComeBack(text: String) throws {
        let address = try #require(IPAddress(text))
        let socket = SocketAddress(address, port: 5353)
        #expect(socket.address == address)
        #expect(socket.port == 5353)
        #expect(socket.family == (address.family == .ipv4 ? AF_INET : AF_INET6))
    }

    @Test func aBoundSocketTellsItsPort() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        #expect(SocketAddress(try #require(IPAddress("127.0.0.1")), port: 0).bind(descriptor) == 0)
        let bound = try #require(SocketAddress(of: descriptor))
        #expect(bound.address == IPAddress("127.0.0.1"))
        #expect((bound.port ?? 0) > 0)
        #expect(SocketAddress(of: -1) == nil)
    }

    /// What ifupdown and keepalived name `eth0:1` is an address of eth0, and no interface.
    @Test func anAddressWithALabelIsItsDevices() {
        for (label, device) in [("eth0:1", "eth0"), ("v0:vip", "v0"), ("eth0", "eth0"), ("v0:\u{308}:x", "v0")] {
            #expect(InterfaceAddress.device(ofLabel: label) == device)
        }
    }

    /// 108 bytes: a path's last byte must be 0; an abstract name may use them all (unix(7)).
    @Test func pathsOfUnixSocketsHaveALimit() {
        #expect(SocketAddress(unix: []) == nil)
        #expect(SocketAddress(unix: Array("a\0b".utf8)) == nil)
        #expect(SocketAddress(unix: [UInt8](repeating: 0x61, count: 107)) != nil)
        #expect(SocketAddress(unix: [UInt8](repeating: 0x61, count: 108)) == nil)
        #expect(SocketAddress(unix: [0] + [UInt8](repeating: 0x61, count: 107))?.length == 110)
        #expect(SocketAddress(unix: [0] + [UInt8](repeating: 0x61, count: 108)) == nil)
    }
}
