internal import Glibc

/// A listening socket that the service manager made (systemd.socket(5)).
public struct InheritedSocket: Hashable, Sendable {
    /// What the socket is bound to.
    public enum Address: Hashable, Sendable {
        /// A path, or an abstract name with `@` before it.
        case unix(path: String)
        /// An IPv4 or IPv6 port.
        case inet(port: UInt16)
    }

    /// The descriptor.
    public let descriptor: Int32
    /// Its name (`FileDescriptorName=`), `unknown` without one; safe for a terminal.
    public let name: String
    /// What it is bound to.
    public let address: Address

    /// Nil unless the descriptor is a stream socket that listens on a Unix or IP address.
    init?(descriptor: Int32, name: String) {
        guard Self.option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue),
            Self.option(SO_ACCEPTCONN, of: descriptor) == 1,
            let address = Self.address(of: descriptor)
        else { return nil }
        self.descriptor = descriptor
        self.name = name
        self.address = address
    }

    private static func option(_ option: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 else { return nil }
        return value
    }

    private static func address(of descriptor: Int32) -> Address? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &size)
            }
        }
        guard code == 0 else { return nil }
        let family = Int32(storage.ss_family)
        return unsafe withUnsafeBytes(of: &storage) { bytes in
            switch family {
            case AF_UNIX:
                let path = unsafe Array(bytes[2..<min(Int(size), bytes.count)])
                if path.first == 0 {
                    return .unix(path: "@" + String(decoding: path.dropFirst(), as: UTF8.self))
                }
                return .unix(path: String(decoding: path.prefix { $0 != 0 }, as: UTF8.self))
            // The port follows the family in both (<netinet/in.h>), in network order.
            case AF_INET, AF_INET6: return unsafe .inet(port: UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
            default: return nil
            }
        }
    }
}
