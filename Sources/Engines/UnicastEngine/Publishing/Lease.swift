import DNSMessage

/// A publisher's lease: a TXT record whose text changes with each renewal, which shows that the publisher lives.
package struct Lease: Hashable, Sendable {
    /// The allowed lengths, in seconds.
    package static let seconds = 10...604_800

    /// The strings on the wire.
    package let data: [UInt8]
    /// How long the lease holds unless it is renewed.
    package let length: Duration

    /// Creates a lease.
    /// - Parameters:
    ///   - session: a random number, different for each process.
    ///   - count: a number that is different for each renewal.
    ///   - seconds: the length, moved into the allowed range.
    package init(session: UInt64, count: UInt64, seconds: Int) {
        let seconds = min(max(seconds, Self.seconds.lowerBound), Self.seconds.upperBound)
        let strings = ["nonce=\(String(session, radix: 16))-\(count)", "lease=\(seconds)"]
        // Two short strings always fit.
        data = (try? TextStrings.data(of: strings.map { Array($0.utf8) })) ?? [0]
        length = .seconds(seconds)
    }

    /// Reads a lease; without a length it holds for two hours.
    package init(read data: [UInt8]) {
        self.data = data
        let key = Array("lease=".utf8)
        let text = TextStrings.strings(of: data)?.first { $0.starts(with: key) }?.dropFirst(key.count)
        let seconds = text.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 7200
        length = .seconds(min(max(seconds, Self.seconds.lowerBound), Self.seconds.upperBound))
    }
}
