package import DNSMessage
import DNSSD

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

/// Remembers over which families the questions of other hosts came.
///
/// A responder that speaks only IPv4 does not hear a question over IPv6 alone, so its silence means nothing (RFC 6762
/// §10.5), and the question does not replace ours (§7.3).
struct HeardQuestions: Sendable {
    /// A host that asks over both families does so within this time.
    private static let lag = Duration.seconds(1)

    /// The link's families.
    var families: Set<IPAddress.Family> = []
    /// Whoever asks whether the answer may be unicast asks the same.
    private var heard: [IPAddress.Family: Recent<RecordKey>] = [:]

    /// Notes a question, and returns whether every host on the link has heard it by now.
    mutating func isHeardByAll(_ question: Question, over family: IPAddress.Family, at now: Duration) -> Bool {
        guard families.count > 1 else { return true }
        let subject = RecordKey(question.name, question.type)
        heard[family, default: Recent()].note(subject, at: now)
        return families.allSatisfy { heard[$0]?.contains(subject, since: now - Self.lag) ?? false }
    }
}
