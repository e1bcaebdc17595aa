/// Tracks whether a connection's datagrams arrive, in both directions. A value. What this side sent counts as arrived once the other side
/// confirms it.
package struct DatagramPath: Hashable, Sendable {
    /// After this many pings without a new confirmation, datagrams count as lost. At least one is sent between two pings.
    private static let patience = 3

    /// The newest number that arrived here, to be confirmed to the other side; 0 before the first.
    package private(set) var heard: UInt64 = 0
    /// Whether a datagram sent now will probably arrive.
    package private(set) var works = false
    private var sent: UInt64 = 0
    private var confirmed: UInt64 = 0
    private var silentPings = 0

    package init() {}

    /// - Returns: the number for the next datagram.
    package mutating func next() -> UInt64 {
        sent &+= 1
        return sent
    }

    /// Call when a datagram arrives.
    /// - Returns: whether it is newer than all before; if not, drop it.
    package mutating func arrived(_ number: UInt64) -> Bool {
        guard number > heard else { return false }
        heard = number
        return true
    }

    /// Call when the other side confirms, over the connection, the newest number that arrived there.
    package mutating func told(_ number: UInt64) {
        if number > confirmed, number <= sent {
            confirmed = number
            silentPings = 0
            works = true
        } else {
            silentPings = min(silentPings + 1, Self.patience)
            if silentPings == Self.patience { works = false }
        }
    }
}
