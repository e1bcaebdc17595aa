import DNSSD
import DiscoveryNIO
import NIOCore
import Testing

@Suite("Addresses of sockets")
struct SocketAddressTests {
    @Test(
        "as they are written; an IPv4 address within an IPv6 address is one",
        arguments: ["10.77.0.2", "::1", "fe80::1", "2001:db8::1", "::ffff:10.77.0.2"])
    func text(_ text: String) throws {
        let address = try #require(IPAddress(try SocketAddress(ipAddress: text, port: 9)))
        #expect(address.description == text.replacing("::ffff:", with: ""))
    }

    @Test("a scope counts for a link-local address only; a Unix socket has no address")
    func scopes() throws {
        let local = try SocketAddress.makeAddressResolvingHost("fe80::1%lo", port: 9)
        #expect(IPAddress(local) == IPAddress("fe80::1%1"))
        let plain = try SocketAddress.makeAddressResolvingHost("2001:db8::1", port: 9)
        #expect(IPAddress(plain) == IPAddress("2001:db8::1"))
        #expect(IPAddress(try SocketAddress(unixDomainSocketPath: "/x")) == nil)
    }
}
