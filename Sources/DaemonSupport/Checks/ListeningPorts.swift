public import DNSSD
internal import Glibc

/// Which ports of this network namespace programs have open.
public enum ListeningPorts {
    /// The most that is read of the system's list of sockets: some 50000 of them.
    private static let maximumSize = 8 * 1024 * 1024

    /// Whether a program takes connections, or with UDP datagrams, at a port; nil when that cannot be told.
    public static func isOpen(_ port: Port, _ transport: ServiceType.Transport) -> Bool? {
        let name = transport == .tcp ? "tcp" : "udp"
        var isKnown = false
        for path in ["/proc/thread-self/net/\(name)", "/proc/thread-self/net/\(name)6"] {
            guard let bytes = try? ConfigurationFiles.read(path, atMost: maximumSize), bytes.count <= maximumSize else {
                continue
            }
            isKnown = true
            if isOpen(port, transport, in: bytes) { return true }
        }
        return isKnown ? false : nil
    }

    /// - Parameter list: the text of /proc/net/tcp or one of its like (proc_pid_net(5)): local address, remote address and
    ///   state are the second to fourth word of a line, in hexadecimal.
    static func isOpen(_ port: Port, _ transport: ServiceType.Transport, in list: [UInt8]) -> Bool {
        let hexadecimal = String(port.rawValue, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
        // TCP_LISTEN, and what the kernel shows for a UDP socket that is not connected (<net/tcp_states.h>).
        let state = transport == .tcp ? "0A" : "07"
        for line in list.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 4)
            guard words.count > 3, words[3].elementsEqual(state.utf8),
                words[1].suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
            else { continue }
            return true
        }
        return false
    }
}
