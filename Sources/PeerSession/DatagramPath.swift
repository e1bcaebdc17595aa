/// Whether datagrams of a connection arrive, each way: a value. What this side sent counts as arriving when the other side says so.
package struct DatagramPath: Hashable, Sendable {
    /// After so many pings that confirm nothing new, datagrams are taken for lost. One is sent between two pings at least.
    private static let patience = 3

    /// The newest that arrived here; 0 before the first. The other side is told.
    package private(set) var heard: UInt64 = 0
    /// Whether what is sent now will probably arrive.
    package private(set) var works = false
    private var sent: UInt64 = 0
    private var confirmed: UInt64 = 0
    private var silentPings = 0

    package init() {}

    /// - Returns: the number of the datagram that is sent now.
    package mutating func next() -> UInt64 {
        sent &+= 1
        return sent
    }

    /// A datagram came.
    /// - Returns: whether it is newer than all before; else it is to be dropped.
    package mutating func arrived(_ number: UInt64) -> Bool {
        guard number > heard else { return false }
        heard = number
        return true
    }

    /// The other side tells, over the connection, the newest that arrived there.
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
