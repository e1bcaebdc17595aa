package import DNSMessage
package import DNSSD
package import Discovery
package import Records

/// A question on one link. Its graph asks through the link's querier.
package protocol LinkBrowse: RecordGraph {
    /// Whether a record of the list looks like a responder's answer to the question.
    func isOfResponder(_ data: RecordData, _ link: LinkQuerier) -> Bool
    /// How many services it keeps, or would keep if it could.
    var wanted: Int { get }
    /// Keeps no more from now on.
    mutating func keep(atMost limit: Int, _ link: inout LinkQuerier, at now: Duration)
}

extension LinkBrowse {
    /// The link's cache has changed.
    package mutating func changed(_ changes: [RecordCache.Change], _ link: inout LinkQuerier, at now: Duration) {
        for change in changes {
            guard let (key, data, isAdded) = change.parts(in: link.cache) else { continue }
            changed(key, data, isAdded: isAdded, &link, at: now)
        }
        evaluate(&link, at: now)
    }
}

extension ServiceGraph: LinkBrowse {
    /// - Parameter limit: the most services kept.
    package init?(_ query: ServiceQuery, on interface: NetworkInterface, limit: Int = most) {
        let isForOne = if case .instance = query.target { true } else { false }
        self.init(query, at: .link(interface), patience: .onLink(isForOne: isForOne), limit: limit)
    }

    /// A responder lists a service together with what it is (RFC 6763 §12.1); a bare name costs nothing.
    package func isOfResponder(_ data: RecordData, _ link: LinkQuerier) -> Bool {
        if case .ptr(let name) = data { link.cache.isAnswered(RecordKey(name, .srv)) } else { true }
    }
}

extension ListGraph: LinkBrowse {
    package init(_ name: DomainName, on interface: NetworkInterface, read: @escaping @Sendable (DomainName) -> Key?) {
        self.init([name], at: .link(interface), read: read)
    }

    package var wanted: Int { 0 }

    package func isOfResponder(_ data: RecordData, _ link: LinkQuerier) -> Bool { true }
    package mutating func keep(atMost limit: Int, _ link: inout LinkQuerier, at now: Duration) {}
}
