public import DNSSD

/// Which endpoints could be dialled and which could not, for a while.
public struct EndpointHistory: Hashable, Sendable {
    /// How long a success counts.
    public static let successLifetime: Duration = .seconds(600)
    /// How long a failure counts: shorter, for what it costs is that a good address is tried last.
    public static let failureLifetime: Duration = .seconds(60)
    /// How many endpoints are remembered.
    public static let capacity = 256

    private struct Entry: Hashable {
        let succeeded: Bool
        let time: Duration
    }

    private var entries: [Endpoint: Entry] = [:]

    /// Remembers nothing.
    public init() {}

    /// Endpoints that are remembered.
    public var count: Int { entries.count }

    /// An endpoint was connected to.
    public mutating func succeeded(_ endpoint: Endpoint, now: Duration) { record(endpoint, true, now) }

    /// An endpoint refused, or did not answer.
    public mutating func failed(_ endpoint: Endpoint, now: Duration) { record(endpoint, false, now) }

    /// When the endpoint was last connected to, if that is what happened last and still counts.
    public func lastSuccess(_ endpoint: Endpoint, now: Duration) -> Duration? {
        guard let entry = entries[endpoint], entry.succeeded, now < entry.time + Self.successLifetime else {
            return nil
        }
        return entry.time
    }

    /// Whether the endpoint failed last, and that still counts.
    public func hasFailed(_ endpoint: Endpoint, now: Duration) -> Bool {
        guard let entry = entries[endpoint] else { return false }
        return !entry.succeeded && now < entry.time + Self.failureLifetime
    }

    private mutating func record(_ endpoint: Endpoint, _ succeeded: Bool, _ now: Duration) {
        if entries[endpoint] == nil, entries.count >= Self.capacity,
            let oldest = entries.min(by: { $0.value.time < $1.value.time })?.key
        {
            entries[oldest] = nil
        }
        entries[endpoint] = Entry(succeeded: succeeded, time: now)
    }
}
