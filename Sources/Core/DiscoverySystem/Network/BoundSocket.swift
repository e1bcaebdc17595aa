package import DNSSD

/// A socket bound to a port, as listed by /proc/net/tcp, udp and their IPv6 counterparts (proc_pid_net(5)).
package struct BoundSocket: Hashable, Sendable {
    package let family: IPAddress.Family
    package let port: UInt16
    /// As in <net/tcp_states.h>: 10 for a listening TCP socket, 7 for an unconnected UDP socket.
    package let state: UInt8
    /// The user that opened it.
    package let user: UInt32
    /// The inode that links in /proc/PID/fd name: `socket:[INODE]`.
    package let inode: UInt64
    /// Bound to a multicast group: it receives what is sent to the group, and nothing sent to this machine alone.
    package let isOfGroup: Bool

    /// The largest list that is read: some 50000 sockets.
    private static let maximumSize = 8 << 20

    /// The sockets of the calling thread's network namespace; nil if the system does not list them.
    package static func all(_ transport: ServiceType.Transport) -> [BoundSocket]? {
        let name = transport == .tcp ? "tcp" : "udp"
        var found: [BoundSocket]?
        for (path, family) in [(name, IPAddress.Family.ipv4), ("\(name)6", .ipv6)] {
            guard let list = try? SystemFile.read("/proc/thread-self/net/\(path)", atMost: maximumSize) else {
                continue
            }
            found = (found ?? []) + all(in: list, family: family)
        }
        return found
    }

    /// Parses a list; skips malformed lines.
    package static func all(in list: [UInt8], family: IPAddress.Family) -> [BoundSocket] {
        list.split(separator: UInt8(ascii: "\n")).dropFirst().compactMap { BoundSocket(line: $0, family: family) }
    }

    /// `sl local:port remote:port st tx:rx tr:when retrnsmt uid timeout inode …`; addresses, ports and states are
    /// hexadecimal.
    private init?(line: ArraySlice<UInt8>, family: IPAddress.Family) {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 10)
        func number<Number: FixedWidthInteger>(_ index: Int, hexadecimal: Bool = true) -> Number? {
            let last = words[index].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            // An address and a port have two parts; the second is wanted.
            guard last.count == (index == 1 ? 2 : 1), let word = last.last else { return nil }
            return Number(String(decoding: word, as: UTF8.self), radix: hexadecimal ? 16 : 10)
        }
        guard words.count >= 10, let port: UInt16 = number(1), let state: UInt8 = number(3),
            let user: UInt32 = number(7, hexadecimal: false), let inode: UInt64 = number(9, hexadecimal: false)
        else { return nil }
        self.family = family
        isOfGroup = Self.isMulticast(words[1], family)
        self.port = port
        self.state = state
        self.user = user
        self.inode = inode
    }

    /// Addresses are 32-bit words in hexadecimal, each in network order but printed in host order.
    private static func isMulticast(_ address: ArraySlice<UInt8>, _ family: IPAddress.Family) -> Bool {
        guard let word = UInt32(String(decoding: address.prefix(8), as: UTF8.self), radix: 16) else { return false }
        let first = UInt32(bigEndian: word)
        return family == .ipv4 ? first >> 28 == 0xE : first >> 24 == 0xFF
    }
}
