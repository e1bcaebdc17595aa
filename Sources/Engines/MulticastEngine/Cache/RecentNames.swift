package import DNSMessage

/// The last thousand names heard of, with the time.
package typealias RecentNames = Recent<DomainName>

/// The last thousand things heard of, with the time.
package struct Recent<Thing: Hashable & Sendable>: Sendable {
    private static var limit: Int { 1024 }

    private var times: [Thing: Duration] = [:]

    mutating func note(_ thing: Thing, at now: Duration) {
        times[thing] = now
        if times.count > Self.limit, let oldest = times.min(by: { $0.value < $1.value })?.key { times[oldest] = nil }
    }

    /// Whether something was heard of at `time` or later.
    package func contains(_ thing: Thing, since time: Duration) -> Bool { times[thing].map { $0 >= time } ?? false }
}
