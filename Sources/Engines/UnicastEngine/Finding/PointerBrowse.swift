import DNSMessage
package import DNSSD
package import Discovery
import Records

/// A query for types or domains, which the PTR records of one or more names list.
struct PointerBrowse<Key: Hashable & Sendable>: FinderRules {
    typealias Fact = PresenceFact<Key>

    private var graph: ListGraph<Key>
    private var source = ServerRecords(QuestionTable())
    private var report = FinderReport<Fact>()

    init(_ names: [DomainName], read: @escaping @Sendable (DomainName) -> Key?) {
        graph = ListGraph(names, at: .unicast, read: read)
    }

    mutating func begin(at now: Duration) {
        graph.begin(&source, at: now)
        guard graph.lists.isEmpty, report.answered() else { return }
        report.listed()
    }

    mutating func answered(_ question: Question, _ reading: AnswerReading, at now: Duration, jitter: Double) {
        guard let answer = source.answered(question, reading, at: now, jitter: jitter) else { return }
        source.table.forgetAdditionals()
        let all = graph.lists.compactMap { source.table[Question($0)] }
        guard all.contains(where: { $0.known != .unknown && $0.failures == 0 }) else {
            guard all.allSatisfy({ $0.failures > 0 }), let reason = all.compactMap(\.trouble).first else { return }
            return report.failed(reason, times: all.map(\.failures).min() ?? 0)
        }
        if report.answered() { graph.reportAgain() }
        for data in answer.removed { graph.changed(question.key, data, isAdded: false, &source, at: now) }
        for data in answer.added { graph.changed(question.key, data, isAdded: true, &source, at: now) }
        report.add(graph.takeFacts())
        if report.isListing, all.allSatisfy(\.isSettled) { report.listed() }
    }

    mutating func due(at now: Duration, jitter: () -> Double) -> [Question] {
        source.table.due(at: now, jitter: jitter)
    }

    var deadline: Duration? { source.table.deadline }

    mutating func takeFacts() -> [Fact] { report.takeFacts() }

    var troubles: [String] { [report.trouble, graph.omission].compactMap(\.self) }
}

/// This host's search domains and networks, which recommend domains to it (RFC 6763 §11).
package struct Surroundings: Hashable, Sendable {
    /// The search domains of /etc/resolv.conf.
    package var searchDomains: [Domain]
    /// The networks of this host's addresses.
    package var networks: [CIDR]

    /// The most search domains, and the most networks, that are asked.
    private static let most = 16

    /// Returns the names that list domains for a purpose.
    func names(for purpose: DomainQuery.Purpose) -> [DomainName] {
        let labels =
            switch purpose {
            case .browsing: ["b", "lb"]
            case .registration: ["r"]
            }
        let domains = searchDomains.filter { $0 != .local }.prefix(Self.most).map(\.labels)
        let reverse = networks.filter { $0.prefixLength > 0 }.prefix(Self.most)
            .compactMap { DomainName(reverse: $0.address)?.labels.map { Array($0) } }
        var known: Set<DomainName> = []
        return (domains + reverse).flatMap { domain in
            labels.compactMap { label in
                try? DomainName(labels: [label, "_dns-sd", "_udp"].map { Array($0.utf8) } + domain)
            }
        }.filter { known.insert($0).inserted }
    }
}

extension Surroundings {
    /// Returns the networks of this host's addresses, except loopback and link-local ones.
    package static func networks(of local: LocalAddresses) -> [CIDR] {
        var known: Set<CIDR> = []
        return local.entries.filter { !local.loopbacks.contains($0.interface) && !$0.address.isLinkLocal }
            .compactMap { CIDR(containing: $0.address, prefixLength: $0.prefixLength) }
            .filter { known.insert($0).inserted }
    }
}
