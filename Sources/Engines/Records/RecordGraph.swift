package import DNSMessage
package import Discovery

/// What the records of one question mean, from one origin: a value that a source's events are passed to, and that returns facts.
package protocol RecordGraph: Sendable {
    associatedtype Fact: FinderFact

    /// The list, or the first record of what was asked for by name.
    var key: RecordKey { get }
    /// Whether it resolves one name, so that the first answer is all there is.
    var isForOne: Bool { get }
    /// Whether that name is there, and whole.
    var hasAnswer: Bool { get }
    /// Whether it is there, but its records do not suffice.
    var isFailing: Bool { get }
    /// When to call `advance`; nil for never.
    var deadline: Duration? { get }

    /// Wants the first records, and reports what is known.
    mutating func begin<Source: RecordSource>(_ source: inout Source, at now: Duration)
    /// Wants nothing any more.
    mutating func end<Source: RecordSource>(_ source: inout Source)
    /// A record came or went. After the last of several, `evaluate` looks at what that means.
    mutating func changed<Source: RecordSource>(
        _ key: RecordKey, _ data: RecordData, isAdded: Bool, _ source: inout Source, at now: Duration)
    /// Something else is known of a key, or of its records. `evaluate` looks at what that means.
    mutating func touched(_ key: RecordKey)
    mutating func evaluate<Source: RecordSource>(_ source: inout Source, at now: Duration)
    /// Time has passed.
    mutating func advance<Source: RecordSource>(to now: Duration, _ source: inout Source)
    /// What was waited for may have been lost, and is asked for again.
    mutating func lost(at now: Duration)
    /// The link is gone; what is known may well still exist.
    mutating func hide()
    /// Facts since the last call.
    mutating func takeFacts() -> [Fact]
}

extension ServiceGraph: RecordGraph {}

extension ListGraph: RecordGraph {
    package var key: RecordKey { lists.first ?? RecordKey(.root, .ptr) }
    package var isForOne: Bool { false }
    package var hasAnswer: Bool { false }
    package var isFailing: Bool { false }
    package var deadline: Duration? { nil }

    package mutating func touched(_ key: RecordKey) {}
    package mutating func evaluate<Source: RecordSource>(_ source: inout Source, at now: Duration) {}
    package mutating func advance<Source: RecordSource>(to now: Duration, _ source: inout Source) {}
    package mutating func lost(at now: Duration) {}
}
