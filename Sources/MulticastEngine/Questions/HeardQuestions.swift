import DNSMessage
import DNSSD

/// Questions of others, and over which families they came.
///
/// A question over IPv6 alone is not heard by a responder that speaks IPv4: that it stays silent says nothing (RFC 6762 §10.5), and nobody
/// else's question is put by it (§7.3).
struct HeardQuestions: Sendable {
    /// One who asks over both families does so at once.
    private static let lag = Duration.seconds(1)

    /// The link's.
    var families: Set<IPAddress.Family> = []
    private var heard: [IPAddress.Family: RecentNames] = [:]

    /// Whether everybody on the link has heard it by now.
    mutating func isHeardByAll(_ question: Question, over family: IPAddress.Family, at now: Duration) -> Bool {
        guard families.count > 1 else { return true }
        heard[family, default: RecentNames()].note(question.name, at: now)
        return families.allSatisfy { heard[$0]?.contains(question.name, since: now - Self.lag) ?? false }
    }
}
