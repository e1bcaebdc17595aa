import DNSSD
import DiscoveryNIO
import Glibc
public import NIOCore

extension SocketAddress {
    /// `10.77.0.1:9000`, `[fe80::1%eth0]:9000`. An IPv4 address mapped to IPv6 is shown as IPv4.
    public var readable: String {
        guard let port, IPAddress(self) != nil else { return description }
        return readableHost.contains(":") ? "[\(readableHost)]:\(port)" : "\(readableHost):\(port)"
    }

    /// Like `readable`, without port and brackets.
    public var readableHost: String {
        guard let address = IPAddress(self) else { return description }
        guard case .v6(_, let scope) = address, scope != 0 else { return address.description }
        return address.text(scopedTo: interfaceName(scope).map { NetworkInterface(index: scope, name: $0) })
    }
}

/// The interface's name; nil if it is gone.
private func interfaceName(_ index: UInt32) -> String? {
    var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
    guard if_indextoname(index, &name) != nil else { return nil }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
