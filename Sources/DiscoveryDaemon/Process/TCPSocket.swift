package import DNSSD
internal import Glibc

/// A TCP socket for the read-only part of the API.
package enum TCPSocket {
    package static func listen(on address: IPAddress, _ port: Port) throws(SystemError) -> Int32 {
        let isV4 = address.family == .ipv4
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(isV4 ? AF_INET : AF_INET6, Int32(kind), 0)
        guard descriptor >= 0 else { throw SystemError(errno, "socket") }
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, address, port) == 0, Glibc.listen(descriptor, RuntimeDirectory.backlog) == 0 else {
            let error = SystemError(errno, "bind")
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func bind(_ descriptor: Int32, _ address: IPAddress, _ port: Port) -> Int32 {
        switch address {
        case .v4(let v4):
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.rawValue.bigEndian
            name.sin_addr.s_addr = v4.bits.bigEndian
            return unsafe withUnsafePointer(to: &name) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        case .v6(let v6, let scope):
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_port = port.rawValue.bigEndian
            name.sin6_scope_id = scope
            unsafe withUnsafeMutableBytes(of: &name.sin6_addr) { bytes in
                unsafe bytes.storeBytes(of: v6.high.bigEndian, as: UInt64.self)
                unsafe bytes.storeBytes(of: v6.low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            return unsafe withUnsafePointer(to: &name) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
    }
}
