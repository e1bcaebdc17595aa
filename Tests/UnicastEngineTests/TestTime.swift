import DiscoverySystem

/// A time that a test sets.
final class TestTime: Sendable {
    private let time = Locked(Duration.zero)

    var value: Duration {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}
