import DNSMessage
import DNSSD
import Glibc
import MulticastEngine

/// How often a property is tried: so often only in `make test-all`.
func rounds(_ all: Int) -> Int { getenv("TEST_ALL") == nil ? max(1, all / 5) : all }

extension LinkQuerier {
    /// A link without questions, whose random numbers repeat.
    static func test() -> LinkQuerier {
        LinkQuerier(cache: RecordCache(seed: 1), schedule: QuestionSchedule(random: SeededGenerator(seed: 5)))
    }

    /// A link that has just learned a record.
    static func test(knowing record: ResourceRecord, at now: Duration) -> LinkQuerier {
        var link = test()
        _ = link.received(Message(flags: [.response], answers: [record]), isOwn: false, at: now)
        return link
    }
}

extension QuestionSchedule.Knowledge {
    init(answers: [ResourceRecord], need: QuestionSchedule.Need) {
        self.init(need: need) { answers.forEach($0) }
    }
}

extension RecordCache {
    func knownAnswers(_ key: RecordKey, at now: Duration) -> [ResourceRecord] {
        var known: [ResourceRecord] = []
        knownAnswers(key, at: now) { known.append($0) }
        return known
    }
}

/// A cache of which nobody watches anything.
extension RecordCache {
    mutating func receive(
        _ records: [ResourceRecord], isOwn: Bool = false, isOneShot: Bool = false,
        over family: IPAddress.Family? = nil, from source: PacketSource = .asked, at now: Duration
    ) -> [Change] {
        receive(records, isOwn: isOwn, isOneShot: isOneShot, over: family, from: source, at: now) { _ in false }
    }

    mutating func advance(to now: Duration) -> (changes: [Change], refreshes: Set<RecordKey>) {
        advance(to: now) { _ in false }
    }
}
