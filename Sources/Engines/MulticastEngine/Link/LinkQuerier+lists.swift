package import DNSMessage
import DNSSD

// What is known of how complete a list is.
extension LinkQuerier {
    /// How long it counts that a list was named: the type's last service may go, and its type stay known for more than an hour.
    private static let named = Duration.seconds(10)
    private static let types = DomainName(["_services", "_dns-sd", "_udp"], in: .local).map { RecordKey($0, .ptr) }

    /// Notes which lists a response to the group answers.
    /// - Parameter source: who sent it; nil: this machine.
    mutating func noteAnswers(_ answers: [ResourceRecord], by source: PacketSource?, at now: Duration) {
        guard lists.values.contains(where: { $0.listens(at: now) }) else { return }
        // A host lists many with the same name in a row.
        var last: DomainName?
        for answer in answers where answer.type == .ptr && answer.ttl > 0 && answer.name != last {
            last = answer.name
            lists[RecordKey(answer.name, .ptr)]?.answered(by: source, .group, at: now)
        }
    }

    /// What the answers say of a list.
    package func verdict(on key: RecordKey, at now: Duration) -> ListAnswers.Verdict {
        let verdict = lists[key]?.verdict(timesAsked: timesAsked(key)) ?? .open
        guard verdict == .open, !cache.isAnswered(key), let types = Self.types, types != key else { return verdict }
        // Somebody has just said that there is such a type.
        let isNamed = cache.records(types).contains {
            $0.data == .ptr(key.name) && !$0.isEnding && now - $0.received < Self.named
        }
        return isNamed ? .unanswered : verdict
    }
}
