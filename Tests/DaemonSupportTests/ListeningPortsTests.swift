import DNSSD
import Glibc
import Testing

@testable import DaemonSupport

@Suite("ports at which programs listen")
struct ListeningPortsTests {
    private static let tcp = Array(
        """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0
           1: 0100007F:2328 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 20 4 30 10 -1

        """.utf8)

    @Test("a socket that listens counts, one that is connected from that port does not, nor a remote port")
    func list() throws {
        #expect(ListeningPorts.ports(.tcp, in: Self.tcp) == [8080])
        #expect(ListeningPorts.ports(.udp, in: Self.tcp) == [])
        #expect(ListeningPorts.ports(.tcp, in: [0xFF, 0x0A, 0x20]) == [])
    }

    @Test("a port of this machine, while a socket listens at it")
    func real() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic -> UInt16? in
                guard bind(descriptor, generic, size) == 0, getsockname(descriptor, generic, &size) == 0 else {
                    return nil
                }
                return pointer.pointee.sin_port.bigEndian
            }
        }
        let port = try Port(Int(try #require(number)))
        #expect(ListeningPorts.open(.tcp)?.contains(port.rawValue) == false)
        #expect(listen(descriptor, 1) == 0)
        #expect(ListeningPorts.open(.tcp)?.contains(port.rawValue) == true)
        close(descriptor)
    }
}
