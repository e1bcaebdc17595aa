import DNSSD

/// Packets to the group over one family that wait for their turn: more at once, and other hosts' kernels drop some.
package struct PacedPackets: Sendable {
    /// 92 full packets fill the receive buffer that Linux gives a socket (net.core.rmem_default).
    private static let burst = 20
    private static let perSecond = 667

    private var rate = TokenBucket(burst: Double(burst), perSecond: Double(perSecond))
    private var packets: [[UInt8]] = []
    private var first = 0

    package init() {}

    package var isEmpty: Bool { first == packets.count }

    package mutating func append(_ more: [[UInt8]]) { packets += more }

    /// How long it takes until all that waits is sent.
    package var lag: Duration {
        let beyond = packets.count - first - Self.burst
        // Each wait for a token may be a microsecond longer.
        return beyond > 0 ? (.seconds(1) / Self.perSecond + .microseconds(2)) * beyond : .zero
    }

    /// When the next packet may be sent; nil if none waits.
    package func deadline(at now: Duration) -> Duration? { isEmpty ? nil : rate.next(at: now) }

    /// Takes the packets that may be sent now.
    package mutating func take(at now: Duration) -> [[UInt8]] {
        let start = first
        while first < packets.count, rate.take(at: now) { first += 1 }
        let taken = Array(packets[start..<first])
        if isEmpty {
            (packets, first) = ([], 0)
        } else if first > 1024 {
            packets.removeFirst(first)
            first = 0
        }
        return taken
    }
}
