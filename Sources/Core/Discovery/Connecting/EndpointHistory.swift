public import DNSSD

/// Remembers for a while which endpoints could be connected to and which could not.
public struct EndpointHistory: Hashable, Sendable {
    /// How long a success counts.
    public static let successLifetime: Duration = .seconds(600)
    /// How long a failure counts. It is short because a failed endpoint is tried last even after it has recovered.
    public static let failureLifetime: Duration = .seconds(60)
    /// The most endpoints that are remembered; the oldest entry makes room.
    public static let capacity = 256

    private struct Entry: Hashable {
        let succeeded: Bool
        let time: Duration
    }

    private var entries: [Endpoint: Entry] = [:]

    /// Creates an empty history.
    public init() {}

    /// The number of endpoints remembered.
    public var count: Int { entries.count }

    /// Records a connection to an endpoint.
    public mutating func succeeded(_ endpoint: Endpoint, now: Duration) { record(endpoint, true, now) }

    /// Records that an endpoint refused or did not answer.
    public mutating func failed(_ endpoint: Endpoint, now: Duration) { record(endpoint, false, now) }

    /// Returns the time of the last success; nil if a failure followed it or it no longer counts.
    public func lastSuccess(_ endpoint: Endpoint, now: Duration) -> Duration? {
        guard let entry = entries[endpoint], entry.succeeded, now < entry.time + Self.successLifetime else {
            return nil
        }
        return entry.time
    }

    /// Returns whether the last attempt failed and still counts.
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
