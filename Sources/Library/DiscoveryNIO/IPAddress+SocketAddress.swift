public import DNSSD
public import NIOCore

extension IPAddress {
    /// The address of a socket, with the scope of a link-local one; an IPv4-mapped IPv6 address becomes IPv4. Nil if there is no IP
    /// address, as for a Unix socket.
    public init?(_ socket: SocketAddress) {
        let bytes = socket.withSockAddr { address, size in Array(UnsafeRawBufferPointer(start: address, count: size)) }
        // sockaddr_in and sockaddr_in6 of <netinet/in.h>.
        switch socket {
        case .v4:
            guard bytes.count >= 8, let address = IPv4Address(bytes: bytes[4..<8]) else { return nil }
            self = .v4(address)
        case .v6:
            guard bytes.count >= 28, let address = IPv6Address(bytes: bytes[8..<24]) else { return nil }
            let scope = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 24, as: UInt32.self) }
            if address.isIPv4Mapped, let inner = address.embeddedIPv4 {
                self = .v4(inner)
            } else {
                self = .v6(address, scope: address.isLinkLocal ? scope : 0)
            }
        case .unixDomainSocket: return nil
        }
    }
}
