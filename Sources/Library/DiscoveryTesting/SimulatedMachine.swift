public import DNSSD
import Discovery
import Responder

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
        (self.interface, self.link, self.addresses) = (interface, link, addresses)
    }

    /// `lo` with 127.0.0.1.
    public static let loopback = SimulatedInterface(
        NetworkInterface(index: 1, name: "lo"), link: nil, addresses: [.v4(IPv4Address(bits: 0x7F00_0001))])

    /// An interface with 10.0.0.`number` and fe80::`number`, by default all on one link.
    public static func ethernet(
        _ number: Int,
        index: UInt32 = 2,
        name: String = "eth0",
        link: String = "lan"
    ) -> SimulatedInterface {
        let low = UInt64(UInt8(truncatingIfNeeded: number))
        return SimulatedInterface(
            NetworkInterface(index: index, name: name), link: link,
            addresses: [
                .v4(IPv4Address(bits: 0x0A00_0000 | (index - 2) << 8 | UInt32(low))),
                .v6(IPv6Address(high: 0xFE80_0000_0000_0000, low: UInt64(index - 2) << 8 | low), scope: 0),
            ])
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
    /// Where its name is one of the link, what has become of it there.
    var label: HostLabel?
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

    init(name: String, host: HostName, interfaces: [SimulatedInterface]) {
        (self.name, self.host, self.interfaces) = (name, host, interfaces)
        let labels = host.text.split(separator: ".")
        guard labels.count == 2, labels[1] == "local" else { return }
        let random = SeededGenerator(seed: name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) })
        label = HostLabel(String(labels[0]), random: random)
    }

    var isUp: Bool { backend == .up }

    /// Interfaces that can send and receive.
    var usable: [SimulatedInterface] { interfaces.filter { !downInterfaces.contains($0.interface.name) } }
}

/// How well the machines of a simulated network hear each other, and when what they hear is delivered. A value; deterministic by its seed.
struct SimulatedConditions: Sendable {
    /// The reports that stay in order: those to one operation about one service.
    struct Channel: Hashable, Sendable {
        let operation: UInt64
        let instance: ServiceInstance?
    }

    /// When questions are asked again that had no answer, after the first (RFC 6762 §5.2 asks for growing intervals).
    private static let attempts = [0, 1, 3, 9, 27, 81, 243, 729].map { Duration.seconds($0) }
    static let greatestLoss = 0.99

    var loss = 0.0
    var delay = Duration.zero
    var delays: [String: Duration] = [:]
    private var last: [Channel: Duration] = [:]
    private var random: SeededGenerator
    /// Something was not heard at once: what is due is no longer in its order.
    private(set) var hasDelayed = false

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Whether everything is heard at once.
    var isPerfect: Bool { loss == 0 && delay == .zero && delays.isEmpty && last.isEmpty }

    /// When `machine` hears what happens now.
    mutating func due(_ channel: Channel, at machine: String, now: Duration) -> Duration {
        hasDelayed = true
        let latency = delays[machine] ?? delay
        let attempt = Self.attempts.first { _ in loss == 0 || random.unit() >= loss }
        let due = now + latency + (attempt ?? Self.attempts[Self.attempts.count - 1])
        let ordered = max(due, last[channel] ?? .zero)
        last[channel] = ordered
        return ordered
    }

    /// Forgets the order of what has been delivered, or will not be.
    mutating func forget(now: Duration) { last = last.filter { $0.value > now } }
    mutating func forget(_ operations: [UInt64]) { last = last.filter { !operations.contains($0.key.operation) } }
}

extension SeededGenerator {
    /// From 0, below 1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}

extension BrowseFact {
    /// The service of another machine that it is about; nil for what a machine knows without hearing it.
    var heard: ServiceInstance? {
        switch self {
        case .appeared(let sighting), .disappeared(let sighting), .withdrawn(let sighting):
            sighting.isOwn ? nil : sighting.instance
        case .resolved(let resolution): resolution.instance
        case .resolutionFailed(let instance, _): instance
        case .merged, .gone, .hidden, .listed, .backend, .degraded: nil
        }
    }
}
