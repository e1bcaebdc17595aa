import Glibc
public import NIOCore

extension SocketAddress {
    /// `10.77.0.1:9000`, `[fe80::1%eth0]:9000`; an IPv4 address that came over an IPv6 socket is one.
    public var readable: String {
        guard let port, ipAddress != nil else { return description }
        return readableHost.contains(":") ? "[\(readableHost)]:\(port)" : "\(readableHost):\(port)"
    }

    /// As `readable`, without the port and brackets.
    public var readableHost: String {
        guard let address = ipAddress else { return description }
        guard case .v6 = self else { return address }
        let mapped = "::ffff:"
        return address.hasPrefix(mapped) && address.contains(".")
            ? String(address.dropFirst(mapped.count)) : address + scope
    }

    private var scope: String {
        let index = withSockAddr { address, size in
            // sin6_scope_id of sockaddr_in6, <netinet/in.h>.
            size >= 28 ? UnsafeRawPointer(address).loadUnaligned(fromByteOffset: 24, as: UInt32.self) : 0
        }
        guard index != 0 else { return "" }
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard if_indextoname(index, &name) != nil else { return "%\(index)" }
        return "%" + String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
