import DNSSD
import System

/// What the mDNS sockets of this machine have not read, and what was lost for want of room. A value.
struct PacketBacklog: Equatable {
    /// Bytes that wait to be read.
    let waiting: UInt64
    /// Packets lost since the machine's start, of all UDP sockets: more than avahi-daemon's perhaps, never fewer.
    let lost: UInt64

    /// Nil where no socket at UDP 5353 is seen: avahi-daemon is in another network namespace, and its losses are too.
    /// - Parameters:
    ///   - sockets: of this network namespace.
    ///   - snmp: the text of /proc/net/snmp; RcvbufErrors is named in a line before its number (proc_net_snmp(5)).
    ///   - snmp6: that of /proc/net/snmp6: a name and a number a line.
    init?(sockets: [BoundSocket], snmp: String, snmp6: String) {
        let ours = sockets.filter { $0.port == PortHolder.multicastDNS }
        guard !ours.isEmpty, let lost = Self.losses(in: snmp) else { return nil }
        waiting = ours.reduce(0) { $0 &+ $1.unread }
        self.lost = lost &+ Self.losses6(in: snmp6)
    }

    private static let name = "RcvbufErrors"

    private static func losses(in text: String) -> UInt64? {
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("Udp: ") }.map { $0.split(separator: " ") }
        guard lines.count == 2, let column = lines[0].firstIndex(where: { $0 == name }), column < lines[1].count else {
            return nil
        }
        return UInt64(lines[1][column])
    }

    /// 0 where there is no IPv6.
    private static func losses6(in text: String) -> UInt64 {
        for line in text.split(separator: "\n") where line.hasPrefix("Udp6\(name)") {
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).last.flatMap { UInt64($0) } ?? 0
        }
        return 0
    }
}

extension PacketBacklog {
    /// That of the calling thread's network namespace, now.
    static func current() -> PacketBacklog? {
        PacketBacklog(
            sockets: BoundSocket.all(.udp) ?? [], snmp: SystemFile.text(of: "/proc/thread-self/net/snmp") ?? "",
            snmp6: SystemFile.text(of: "/proc/thread-self/net/snmp6") ?? "")
    }
}
