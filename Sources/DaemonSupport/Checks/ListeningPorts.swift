public import DNSSD
internal import Discovery
internal import System

/// Which ports of this network namespace programs have open.
public enum ListeningPorts {
    /// The most that is read of the system's list of sockets: some 50000 of them.
    private static let maximumSize = 8 * 1024 * 1024
    /// For so long one look is good for all who ask.
    private static let freshness = Duration.seconds(1)

    private struct Look: Sendable {
        let time: ContinuousClock.Instant
        let ports: Set<UInt16>?
    }

    private static let looks = Locked<[ServiceType.Transport: Look]>([:])

    /// Whether a program takes connections, or with UDP datagrams, at a port; nil when that cannot be told. The answer may be
    /// a second old.
    public static func isOpen(_ port: Port, _ transport: ServiceType.Transport) -> Bool? {
        looks.withLock { looks in
            let look: Look
            if let last = looks[transport], last.time.duration(to: .now) < freshness {
                look = last
            } else {
                look = Look(time: .now, ports: open(transport))
                looks[transport] = look
            }
            return look.ports?.contains(port.rawValue)
        }
    }

    /// All of them; nil when the system does not tell.
    static func open(_ transport: ServiceType.Transport) -> Set<UInt16>? {
        let name = transport == .tcp ? "tcp" : "udp"
        var found: Set<UInt16>?
        for path in ["/proc/thread-self/net/\(name)", "/proc/thread-self/net/\(name)6"] {
            guard let bytes = try? ConfigurationFiles.read(path, atMost: maximumSize), bytes.count <= maximumSize else {
                continue
            }
            found = (found ?? []).union(ports(transport, in: bytes))
        }
        return found
    }

    /// - Parameter list: the text of /proc/net/tcp or one of its like (proc_pid_net(5)): local address, remote address and
    ///   state are the second to fourth word of a line, in hexadecimal.
    static func ports(_ transport: ServiceType.Transport, in list: [UInt8]) -> Set<UInt16> {
        // TCP_LISTEN, and what the kernel shows for a UDP socket that is not connected (<net/tcp_states.h>).
        let state = transport == .tcp ? "0A" : "07"
        var ports: Set<UInt16> = []
        for line in list.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 4)
            guard words.count > 3, words[3].elementsEqual(state.utf8),
                let port = UInt16(String(decoding: words[1].suffix(4), as: UTF8.self), radix: 16)
            else { continue }
            ports.insert(port)
        }
        return ports
    }
}
