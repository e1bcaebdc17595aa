package import DNSMessage
package import Discovery

/// A question on one link. A value: receives the link's events, asks through its querier, and returns facts.
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

extension LinkBrowse {
    package var isForOne: Bool { false }
    package var hasAnswer: Bool { false }
    package var deadline: Duration? { nil }
    package func isOfResponder(_ data: RecordData, _ link: LinkQuerier) -> Bool { true }
    package var wanted: Int { 0 }
    package mutating func advance(to now: Duration, _ link: inout LinkQuerier) {}
    package mutating func keep(atMost limit: Int, _ link: inout LinkQuerier, at now: Duration) {}
}
