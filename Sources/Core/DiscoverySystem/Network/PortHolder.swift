import DNSSD

/// A process that holds a UDP port, as far as it is visible.
package struct PortHolder: Hashable, Sendable, CustomStringConvertible {
    /// Multicast DNS (RFC 6762 §3).
    package static let multicastDNS: UInt16 = 5353

    package let process: Int32?
    package let name: String?
    package let user: UInt32
    package let inode: UInt64

    package init(process: Int32?, name: String?, user: UInt32, inode: UInt64) {
        (self.process, self.name, self.user, self.inode) = (process, name, user, inode)
    }

    /// A text for people, safe for a terminal.
    package var description: String {
        guard let process else { return "a process of user \(user) (socket \(inode))" }
        return "\((name ?? "a process").escapedForTerminal) (pid \(process))"
    }

    /// The processes that have `port` in this network namespace; a socket whose process is not visible counts as one.
    /// - Parameter ofGroup: those that listen to a multicast group at it, else those that answer at this machine's addresses.
    package static func holders(of port: UInt16, ofGroup: Bool = false) -> [PortHolder] {
        let sockets = (BoundSocket.all(.udp) ?? []).filter {
            $0.port == port && (ofGroup ? $0.isOfGroup : $0.hearsAnyone)
        }
        guard !sockets.isEmpty else { return [] }
        let owners = processes(of: Set(sockets.map(\.inode)))
        var holders: [PortHolder] = []
        for socket in sockets {
            let process = owners[socket.inode]
            if process != nil, holders.contains(where: { $0.process == process }) { continue }
            let name = process.flatMap(ProcessName.whole)
            holders.append(PortHolder(process: process, name: name, user: socket.user, inode: socket.inode))
        }
        return holders
    }

    /// The processes whose open files this process may inspect.
    private static func processes(of inodes: Set<UInt64>) -> [UInt64: Int32] {
        var found: [UInt64: Int32] = [:]
        for process in ((try? SystemFile.names(in: "/proc")) ?? []).compactMap({ Int32($0) }) {
            for descriptor in (try? SystemFile.names(in: "/proc/\(process)/fd")) ?? [] {
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
