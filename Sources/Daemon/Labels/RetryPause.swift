/// How long is waited after one more try that has failed: twice as long each time, until one has lasted. A value with virtual time.
package struct RetryPause: Sendable {
    package static let first = Duration.seconds(1), longest = Duration.seconds(15)

    private var next = Self.first

    package init() {}

    /// A try has failed.
    /// - Parameter duration: how long it went well, or seemed to.
    /// - Returns: how long to wait.
    package mutating func failed(after duration: Duration) -> Duration {
        if duration >= Self.longest { next = Self.first }
        defer { next = min(next * 2, Self.longest) }
        return next
    }
}
