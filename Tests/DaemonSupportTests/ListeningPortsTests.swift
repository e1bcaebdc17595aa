import DNSSD
import DiscoverySystem
import Glibc
import Testing

@testable import DiscoveryDaemon

@Suite("ports at which programs listen")
struct ListeningPortsTests {
    private static let tcp = Array(
        """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0
           1: 0100007F:2328 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 20 4 30 10 -1

        """.utf8)

    @Test("a listening socket counts; a connected one on that port does not, nor does a remote port")
    func list() throws {
        let sockets = BoundSocket.all(in: Self.tcp, family: .ipv4)
        #expect(ListeningPorts.ports(.tcp, of: sockets) == [8080])
        #expect(ListeningPorts.ports(.udp, of: sockets) == [])
    }

    @Test("a port of this machine, while a socket listens at it")
    func real() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #expect(SocketAddress(.v4(IPv4Address(bits: 0x7F00_0001)), port: 0).bind(descriptor) == 0)
        let port = try Port(Int(try #require(SocketAddress(of: descriptor)?.port)))
        #expect(ListeningPorts.open(.tcp)?.contains(port.rawValue) == false)
        #expect(listen(descriptor, 1) == 0)
        #expect(ListeningPorts.open(.tcp)?.contains(port.rawValue) == true)
        close(descriptor)
    }
}
