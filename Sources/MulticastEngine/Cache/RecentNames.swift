package import DNSMessage

/// Names of which something was heard lately, and when: the last thousand.
package struct RecentNames: Sendable {
    private static let limit = 1024

    private var times: [DomainName: Duration] = [:]

    mutating func note(_ name: DomainName, at now: Duration) {
        times[name] = now
        if times.count > Self.limit, let oldest = times.min(by: { $0.value < $1.value })?.key { times[oldest] = nil }
    }

    /// Whether something was heard of a name at that time or later.
    package func contains(_ name: DomainName, since time: Duration) -> Bool { times[name].map { $0 >= time } ?? false }
}
