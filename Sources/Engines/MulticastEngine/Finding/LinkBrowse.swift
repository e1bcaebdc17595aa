package import DNSMessage
package import DNSSD
package import Discovery
package import Records

/// A question on one link: a graph of its records. A value: receives the link's events, asks through its querier, and
/// returns facts.
package protocol LinkBrowse: Sendable {
    associatedtype Fact: FinderFact

    /// The question that lists everything.
    var key: RecordKey { get }
    /// Whether it resolves one name, so that the first answer is all there is.
    var isForOne: Bool { get }
    /// Whether that name has answered.
    var hasAnswer: Bool { get }
    /// Whether a record of the list looks like a responder's answer to the question.
    func isOfResponder(_ data: RecordData, _ link: LinkQuerier) -> Bool
    /// When to call `advance`; nil for never.
    var deadline: Duration? { get }

    /// Starts to ask, and reports what the cache knows.
    mutating func begin(_ link: inout LinkQuerier, at now: Duration)
    /// The link's cache has changed.
    mutating func changed(_ changes: [RecordCache.Change], _ link: inout LinkQuerier, at now: Duration)
    /// Packets were lost, and everything is asked for again.
    mutating func lost(at now: Duration)
    /// Time has passed.
    mutating func advance(to now: Duration, _ link: inout LinkQuerier)
    /// How many services it keeps, or would keep if it could.
    var wanted: Int { get }
    /// Keeps no more from now on.
    mutating func keep(atMost limit: Int, _ link: inout LinkQuerier, at now: Duration)
    /// The link is gone.
    mutating func hide()
    /// Stops asking.
    mutating func end(_ link: inout LinkQuerier)
    /// Facts since the last call.
    mutating func takeFacts() -> [Fact]
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

    package mutating func changed(_ changes: [RecordCache.Change], _ link: inout LinkQuerier, at now: Duration) {
        for change in changes {
            guard let (key, data, isAdded) = change.parts(in: link.cache) else { continue }
            changed(key, data, isAdded: isAdded, &link, at: now)
        }
        evaluate(&link, at: now)
    }
}

extension ListGraph: LinkBrowse {
    package init(_ name: DomainName, on interface: NetworkInterface, read: @escaping @Sendable (DomainName) -> Key?) {
        self.init([name], at: .link(interface), read: read)
    }

    package var key: RecordKey { lists.first ?? RecordKey(.root, .ptr) }
    package var isForOne: Bool { false }
    package var hasAnswer: Bool { false }
    package var deadline: Duration? { nil }
    package var wanted: Int { 0 }

    package func isOfResponder(_ data: RecordData, _ link: LinkQuerier) -> Bool { true }
    package mutating func lost(at now: Duration) {}
    package mutating func advance(to now: Duration, _ link: inout LinkQuerier) {}
    package mutating func keep(atMost limit: Int, _ link: inout LinkQuerier, at now: Duration) {}

    package mutating func changed(_ changes: [RecordCache.Change], _ link: inout LinkQuerier, at now: Duration) {
        for change in changes {
            guard let (key, data, isAdded) = change.parts(in: link.cache) else { continue }
            changed(key, data, isAdded: isAdded, link)
        }
    }
}
