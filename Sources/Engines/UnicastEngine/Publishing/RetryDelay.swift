import DNSSD

/// The delay before the next try: doubles each time, and is spread so that many do not come together.
struct RetryDelay: Hashable, Sendable {
    static let first = Duration.seconds(1)
    static let longest = Duration.seconds(30)

    private var next = first

    /// Returns the delay after a failure.
    /// - Parameter jitter: 0 to 1; moves the delay between three quarters and five quarters of its value.
    mutating func failed(_ jitter: Double) -> Duration {
        let delay = next
        next = min(next * 2, Self.longest)
        return delay * (0.75 + jitter / 2)
    }

    mutating func succeeded() { next = Self.first }
}

extension SeededGenerator {
    mutating func fraction() -> Double { Double.random(in: 0..<1, using: &self) }
}

/// Whether a publisher sends requests: not for a while after the server refused or did not answer.
struct RequestGate: Sendable {
    private enum State: Sendable {
        case open
        case closed(ZonePublisher.Trouble, until: Duration)
        /// Something is asked; only an answer ends the trouble.
        case trying(ZonePublisher.Trouble)
    }

    private var state = State.open
    private var delay = RetryDelay()

    /// Why nothing is sent, or was until a moment ago.
    var trouble: ZonePublisher.Trouble? {
        switch state {
        case .open: nil
        case .closed(let trouble, _), .trying(let trouble): trouble
        }
    }

    /// Nothing is sent until then; nil if requests are sent.
    var closedUntil: Duration? { if case .closed(_, let until) = state { until } else { nil } }

    mutating func close(_ trouble: ZonePublisher.Trouble, _ now: Duration, jitter: Double) {
        // Only the first failure of several messages under way prolongs the delay.
        state = .closed(trouble, until: closedUntil ?? now + delay.failed(jitter))
    }

    /// Another try may succeed.
    mutating func openSoon(_ now: Duration) {
        if case .closed(let trouble, _) = state { state = .closed(trouble, until: now) }
        delay.succeeded()
    }

    /// Returns the trouble if it is time for another try.
    mutating func tries(_ now: Duration) -> ZonePublisher.Trouble? {
        guard case .closed(let trouble, let until) = state, until <= now else { return nil }
        state = .trying(trouble)
        return trouble
    }

    /// The server has answered.
    /// - Returns: whether that ends a trouble.
    mutating func answered() -> Bool {
        guard case .trying = state else { return false }
        state = .open
        delay.succeeded()
        return true
    }
}
