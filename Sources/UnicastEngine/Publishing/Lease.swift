import DNSMessage

/// The text of a publisher's lease: it says that the publisher lives, each time another way.
package struct Lease: Hashable, Sendable {
    /// The shortest and the longest, in seconds.
    package static let seconds = 10...604_800

    /// The strings on the wire.
    package let data: [UInt8]
    /// How long it holds, unless it is renewed.
    package let length: Duration

    /// - Parameters:
    ///   - session: random, another for each process.
    ///   - count: another for each renewal.
    package init(session: UInt64, count: UInt64, seconds: Int) {
        let seconds = min(max(seconds, Self.seconds.lowerBound), Self.seconds.upperBound)
        let strings = ["nonce=\(String(session, radix: 16))-\(count)", "lease=\(seconds)"]
        // Two short strings always fit.
        data = (try? TextStrings.data(of: strings.map { Array($0.utf8) })) ?? [0]
        length = .seconds(seconds)
    }

    /// One that was read; one that does not say how long it holds counts as two hours.
    package init(read data: [UInt8]) {
        self.data = data
        let key = Array("lease=".utf8)
        let text = TextStrings.strings(of: data)?.first { $0.starts(with: key) }?.dropFirst(key.count)
        let seconds = text.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 7200
        length = .seconds(min(max(seconds, Self.seconds.lowerBound), Self.seconds.upperBound))
    }
}
