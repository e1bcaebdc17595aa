internal import DiscoverySystem
internal import Libc

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
        guard Sockets.option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue),
            Sockets.option(SO_ACCEPTCONN, of: descriptor) == 1,
            let address = Self.address(of: descriptor)
        else { return nil }
        self.descriptor = descriptor
        self.name = name
        self.address = address
    }

    private static func address(of descriptor: Int32) -> Address? {
        guard let address = SocketAddress(of: descriptor) else { return nil }
        return address.unixName.map { .unix(path: $0) } ?? address.port.map { .inet(port: $0) }
    }
}
