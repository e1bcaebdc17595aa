package import DNSSD

/// A UDP socket that is bound to a port, as /proc/net/udp and udp6 list it (proc_net_udp(5)).
package struct UDPListener: Hashable, Sendable {
    package let family: IPAddress.Family
    package let port: UInt16
    /// Who opened it.
    package let user: UInt32
    /// What its links in /proc/PID/fd say: `socket:[INODE]`.
    package let inode: UInt64
    /// Bytes that it has not read yet, as the kernel counts them.
    package let unread: UInt64

    /// Reads the text of /proc/net/udp or udp6; lines of another form are left out.
    package static func all(in text: String, family: IPAddress.Family) -> [UDPListener] {
        text.split(separator: "\n").dropFirst().compactMap { UDPListener(line: $0, family: family) }
    }

    /// `sl local:port remote:port st tx:rx tr:when retrnsmt uid timeout inode …`, numbers of addresses and ports in
    /// hexadecimal.
    private init?(line: Substring, family: IPAddress.Family) {
        let fields = line.split(separator: " ", omittingEmptySubsequences: true)
        guard fields.count >= 10, let colon = fields[1].lastIndex(of: ":"),
            let port = UInt16(fields[1][fields[1].index(after: colon)...], radix: 16),
            let user = UInt32(fields[7]), let inode = UInt64(fields[9]),
            let unread = UInt64(fields[4].split(separator: ":").last ?? "", radix: 16)
        else { return nil }
        self.family = family
        self.port = port
        self.user = user
        self.inode = inode
        self.unread = unread
    }
}

/// A process, as far as it can be seen, that holds a UDP port.
package struct PortHolder: Hashable, Sendable, CustomStringConvertible {
    package let process: Int32?
    package let name: String?
    package let user: UInt32
    package let inode: UInt64

    /// For people, safe for a terminal.
    package var description: String {
        guard let process else { return "a process of user \(user) (socket \(inode))" }
        return "\((name ?? "a process").escapedForTerminal) (pid \(process))"
    }
}
