package import DNSMessage

/// The last thousand names heard of, with the time.
package struct RecentNames: Sendable {
    private static let limit = 1024

    private var times: [DomainName: Duration] = [:]

    mutating func note(_ name: DomainName, at now: Duration) {
        times[name] = now
        if times.count > Self.limit, let oldest = times.min(by: { $0.value < $1.value })?.key { times[oldest] = nil }
    }

    /// Whether a name was heard of at `time` or later.
    package func contains(_ name: DomainName, since time: Duration) -> Bool { times[name].map { $0 >= time } ?? false }
}
