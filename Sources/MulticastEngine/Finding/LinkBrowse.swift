package import Discovery

/// A question on one link, as a value: told what happens there, it asks through the link's querier and says what it means.
package protocol LinkBrowse: Sendable {
    associatedtype Fact: FinderFact

    /// The question that says what there is.
    var key: RecordKey { get }
    /// One name is asked for: its first answer is all there is.
    var isForOne: Bool { get }
    /// The one that is asked for has answered.
    var hasAnswer: Bool { get }
    /// When `advance` has something to do; nil when never.
    var deadline: Duration? { get }

    /// Begins to ask; what the cache knows already is reported.
    mutating func begin(_ link: inout LinkQuerier, at now: Duration)
    /// The link's cache has changed.
    mutating func changed(_ changes: [RecordCache.Change], _ link: inout LinkQuerier, at now: Duration)
    /// Time has passed.
    mutating func advance(to now: Duration, _ link: inout LinkQuerier)
    /// The link is gone.
    mutating func hide()
    /// Nothing is asked for it any more.
    mutating func end(_ link: inout LinkQuerier)
    /// Facts since the last call.
    mutating func takeFacts() -> [Fact]
}

extension LinkBrowse {
    package var isForOne: Bool { false }
    package var hasAnswer: Bool { false }
    package var deadline: Duration? { nil }
    package mutating func advance(to now: Duration, _ link: inout LinkQuerier) {}
}
