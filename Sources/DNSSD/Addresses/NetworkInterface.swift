/// A network interface of this machine. The index is reused by the system after an interface is deleted, so both count.
public struct NetworkInterface: Hashable, Sendable, Comparable {
    /// The system's index: 1 and up.
    public let index: UInt32
    /// The system's name: `eth0`.
    public let name: String

    /// Creates a value; nothing is asked of the system.
    public init(index: UInt32, name: String) {
        self.index = index
        self.name = name
    }

    /// By index, then name.
    public static func < (one: NetworkInterface, other: NetworkInterface) -> Bool {
        (one.index, one.name) < (other.index, other.name)
    }
}

extension NetworkInterface {
    /// What is heard there comes from this machine. Linux has one, with a fixed name (drivers/net/loopback.c).
    package var isLoopback: Bool { name == "lo" }
}
