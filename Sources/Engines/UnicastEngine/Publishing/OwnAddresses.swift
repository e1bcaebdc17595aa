package import DNSSD
import Discovery
import DiscoverySystem
import Libc

/// Chooses the addresses of this host to publish: those that other users of the same DNS server can probably reach.
package enum OwnAddresses {
    /// Returns the addresses of the interface from which a server is reached, except link-local, loopback, temporary
    /// (RFC 8981), deprecated and tentative ones. Empty if the server cannot be reached.
    package static func towards(_ server: ServerAddress) -> Set<IPAddress> {
        guard let source = source(towards: server), let all = InterfaceAddress.all(),
            let interface = all.first(where: { $0.address?.masked(to: 128) == source.masked(to: 128) })?.interface
        else { return [] }
        let unfit = unfitAddresses()
        let found = all.filter { $0.interface.index == interface.index }.compactMap(\.address)
        // A server on this machine is reached from loopback, so all other addresses of this machine are candidates.
        let candidates = source.isLoopback ? all.compactMap(\.address) : found
        return Set(
            candidates.filter { address in
                guard !address.isLinkLocal, !address.isLoopback, !address.isUnspecified, !address.isMulticast else {
                    return false
                }
                if case .v6(let v6, _) = address { return !unfit.contains(v6) }
                return true
            })
    }

    /// Returns the address from which packets to a server come. Connecting a UDP socket sends nothing: the system only
    /// chooses the route.
    private static func source(towards server: ServerAddress) -> IPAddress? {
        let family = server.address.family == .ipv4 ? AF_INET : AF_INET6
        guard let socket = try? Sockets.make(family, .datagram) else { return nil }
        defer { close(socket) }
        guard SocketAddress(server.address, port: server.port.rawValue).connect(socket) == 0 else { return nil }
        return SocketAddress(of: socket)?.address
    }

    /// IPv6 addresses that are temporary, deprecated, tentative or duplicates (IFA_F_ flags of <linux/if_addr.h>).
    private static func unfitAddresses() -> Set<IPv6Address> {
        let unfit: UInt32 = 0x01 | 0x08 | 0x20 | 0x40
        // A line has address, index, prefix length, scope and flags, in hexadecimal, and the interface's name.
        let lines = SystemFile.lines(of: "/proc/thread-self/net/if_inet6") ?? []
        return Set(
            lines.compactMap { line in
                let words = line.split(separator: " ")
                guard words.count == 6, words[0].utf8.count == 32, let flags = UInt32(words[4], radix: 16),
                    flags & unfit != 0, let high = UInt64(words[0].prefix(16), radix: 16),
                    let low = UInt64(words[0].suffix(16), radix: 16)
                else { return nil }
                return IPv6Address(high: high, low: low)
            })
    }
}
