import DNSSD
import Glibc

extension UDPListener {
    /// Multicast DNS (RFC 6762 §3).
    package static let multicastDNS: UInt16 = 5353

    /// The sockets of the calling thread's network namespace.
    package static func current() -> [UDPListener] {
        all(in: SystemFile.text(of: "/proc/thread-self/net/udp"), family: .ipv4)
            + all(in: SystemFile.text(of: "/proc/thread-self/net/udp6"), family: .ipv6)
    }
}

extension PortHolder {
    /// Who holds `port` in this network namespace: one element for each process, or for each socket whose process
    /// cannot be seen.
    package static func holders(of port: UInt16) -> [PortHolder] {
        let sockets = UDPListener.current().filter { $0.port == port }
        guard !sockets.isEmpty else { return [] }
        let owners = processes(of: Set(sockets.map(\.inode)))
        var holders: [PortHolder] = []
        for socket in sockets {
            let process = owners[socket.inode]
            if process != nil, holders.contains(where: { $0.process == process }) { continue }
            let name = process.map {
                SystemFile.text(of: "/proc/\($0)/comm", atMost: 64).split(separator: "\n").first.map(String.init) ?? ""
            }
            holders.append(PortHolder(process: process, name: name, user: socket.user, inode: socket.inode))
        }
        return holders
    }

    /// The processes whose open files this process may look at.
    private static func processes(of inodes: Set<UInt64>) -> [UInt64: Int32] {
        var found: [UInt64: Int32] = [:]
        for name in SystemFile.names(in: "/proc") {
            guard let process = Int32(name) else { continue }
            for descriptor in SystemFile.names(in: "/proc/\(process)/fd") {
                guard let target = SystemFile.link("/proc/\(process)/fd/\(descriptor)"), target.hasPrefix("socket:["),
                    let inode = UInt64(target.dropFirst(8).dropLast()), inodes.contains(inode)
                else { continue }
                found[inode] = process
            }
            if found.count == inodes.count { break }
        }
        return found
    }
}
