internal import DNSSD
internal import Glibc

/// An address and a port as the system takes them.
struct SocketAddress {
    private var storage = sockaddr_storage()
    private let length: socklen_t
    let family: Int32

    /// - Parameter port: 0 lets the system choose.
    init(_ address: IPAddress, port: UInt16) {
        switch address {
        case .v4(let v4):
            var value = sockaddr_in()
            value.sin_family = sa_family_t(AF_INET)
            value.sin_port = port.bigEndian
            value.sin_addr.s_addr = v4.bits.bigEndian
            (family, length) = (AF_INET, socklen_t(MemoryLayout<sockaddr_in>.size))
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: value, as: sockaddr_in.self) }
        case .v6(let v6, let scope):
            var value = sockaddr_in6()
            value.sin6_family = sa_family_t(AF_INET6)
            value.sin6_port = port.bigEndian
            value.sin6_scope_id = scope
            unsafe withUnsafeMutableBytes(of: &value.sin6_addr) { unsafe $0.copyBytes(from: v6.bytes) }
            (family, length) = (AF_INET6, socklen_t(MemoryLayout<sockaddr_in6>.size))
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: value, as: sockaddr_in6.self) }
        }
    }

    /// Begins to connect a socket.
    func connect(_ socket: Socket) -> Int32 { unsafe call { unsafe Glibc.connect(socket.descriptor, $0, $1) } }

    /// Binds a socket.
    func bind(_ socket: Socket) -> Int32 { unsafe call { unsafe Glibc.bind(socket.descriptor, $0, $1) } }

    private func call(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }
}

extension Socket {
    /// The port to which the socket is bound; nil when it is not.
    var port: Port? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard code == 0 else { return nil }
        // The port is at the same place in both families (bytes 2 and 3).
        let raw = unsafe withUnsafeBytes(of: storage) { unsafe $0.load(fromByteOffset: 2, as: UInt16.self) }
        return Port(rawValue: UInt16(bigEndian: raw))
    }
}
