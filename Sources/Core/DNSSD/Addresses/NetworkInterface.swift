/// A network interface of this machine. Index and name both identify it, because the system reuses indexes.
public struct NetworkInterface: Hashable, Sendable, Comparable {
    /// The system's index, from 1.
    public let index: UInt32
    /// The system's name, such as `eth0`.
    public let name: String

    /// Creates a value without asking the system.
    public init(index: UInt32, name: String) {
        self.index = index
        self.name = name
    }

    /// Orders by index, then by name.
    public static func < (one: NetworkInterface, other: NetworkInterface) -> Bool {
        (one.index, one.name) < (other.index, other.name)
    }
}

extension NetworkInterface: Identifiable, CustomStringConvertible {
    /// The interface itself.
    public var id: NetworkInterface { self }

    /// The name; safe for a terminal.
    public var description: String { name.escapedForTerminal }
}

extension NetworkInterface {
    /// Whether this is the loopback interface. Linux has one, with a fixed name (drivers/net/loopback.c).
    package var isLoopback: Bool { name == "lo" }
}
