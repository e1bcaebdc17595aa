import Conformance

/// The time of a link that is there in a test alone, and what is on its way to the suite. A value.
struct VirtualClock {
    private(set) var time = Duration.seconds(1000)
    var outgoing: [Packet] = []

    var now: Double { Self.seconds(time) }

    /// When a deadline comes: now, if it is over.
    func seconds(of deadline: Duration) -> Double { Self.seconds(max(deadline, time)) }

    /// What has arrived by now.
    mutating func take() -> Packet? {
        outgoing.sort { $0.at < $1.at }
        guard let first = outgoing.first, first.at <= now + 1e-9 else { return nil }
        return outgoing.removeFirst()
    }

    /// Moves on to what comes next: a packet, or what is due at `deadline`.
    /// - Returns: whether that is before `limit`, which is the time now if not.
    mutating func advance(to deadline: Double?, within limit: Double) -> Bool {
        let next = min(deadline ?? .infinity, outgoing.map(\.at).min() ?? .infinity)
        guard next <= limit else {
            time = .nanoseconds(Int64((limit * 1e9).rounded()))
            return false
        }
        time = max(time, .nanoseconds(Int64((next * 1e9).rounded(.up))))
        return true
    }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}
