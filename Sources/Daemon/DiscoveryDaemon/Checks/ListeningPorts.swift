public import DNSSD
internal import DiscoverySystem

/// Which ports of this network namespace programs have open.
public enum ListeningPorts {
    /// How long one reading is shared by all callers.
    private static let freshness = Duration.seconds(1)

    private struct Look: Sendable {
        let time: ContinuousClock.Instant
        let ports: Set<UInt16>?
    }

    private static let looks = Locked<[ServiceType.Transport: Look]>([:])

    /// Whether a program accepts connections, or UDP datagrams, at a port; nil if the system does not tell. The answer
    /// may be a second old.
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

    /// All open ports; nil if the system does not tell.
    static func open(_ transport: ServiceType.Transport) -> Set<UInt16>? {
        BoundSocket.all(transport).map { ports(transport, of: $0) }
    }

    static func ports(_ transport: ServiceType.Transport, of sockets: [BoundSocket]) -> Set<UInt16> {
        // TCP_LISTEN, and what the kernel shows for a UDP socket that is not connected (<net/tcp_states.h>).
        let state: UInt8 = transport == .tcp ? 10 : 7
        return Set(sockets.lazy.filter { $0.state == state }.map(\.port))
    }
}
