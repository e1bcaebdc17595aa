public import DNSSD

/// An interface of a simulated machine. Interfaces on the same link reach each other.
public struct SimulatedInterface: Hashable, Sendable {
    /// The interface's index and name.
    public var interface: NetworkInterface
    /// The link it is plugged into; nil for loopback.
    public var link: String?
    /// Its addresses; each observer sees link-local ones with its own scope.
    public var addresses: [IPAddress]

    /// Creates an interface.
    public init(_ interface: NetworkInterface, link: String?, addresses: [IPAddress]) {
        self.interface = interface
        self.link = link
        self.addresses = addresses
    }

    /// `lo` with 127.0.0.1.
    public static let loopback = SimulatedInterface(
        NetworkInterface(index: 1, name: "lo"),
        link: nil,
        addresses: [.v4(IPv4Address(bits: 0x7F00_0001))]
    )

    /// An interface with 10.0.0.`number` and fe80::`number`, by default all on one link.
    public static func ethernet(
        _ number: Int,
        index: UInt32 = 2,
        name: String = "eth0",
        link: String = "lan"
    ) -> SimulatedInterface {
        let low = UInt64(UInt8(truncatingIfNeeded: number))
        return SimulatedInterface(
            NetworkInterface(index: index, name: name),
            link: link,
            addresses: [
                .v4(IPv4Address(bits: 0x0A00_0000 | (index - 2) << 8 | UInt32(low))),
                .v6(IPv6Address(high: 0xFE80_0000_0000_0000, low: UInt64(index - 2) << 8 | low), scope: 0),
            ]
        )
    }
}

/// A machine's state in the simulated network.
struct SimulatedMachine: Sendable {
    enum Backend: Hashable {
        /// Never started.
        case absent
        case up
        /// Stopped. Without a goodbye, the others remember its services.
        case down(saidGoodbye: Bool)
    }

    let name: String
    var host: HostName
    var interfaces: [SimulatedInterface]
    /// Names of the interfaces that are down.
    var downInterfaces: Set<String> = []
    var backend = Backend.up
    /// Machines in different segments cannot reach each other.
    var segment = 0
    /// Its services can be resolved.
    var answers = true
    /// Why it refuses publications; nil if it accepts them.
    var refusal: DiscoveryError?

    var isUp: Bool { backend == .up }

    /// Interfaces that can send and receive.
    var usable: [SimulatedInterface] { interfaces.filter { !downInterfaces.contains($0.interface.name) } }
}
