/// Until when other hosts may begin to ask at the same moment, because something has happened that they share: they were started, their links
/// changed, they woke (RFC 6762 §5.2).
///
/// A value: receives events with their times, since the machine's start.
package struct Unrest: Sendable {
    /// How long after such an event hosts may begin.
    private static let length = Duration.seconds(10)
    /// The same after the machine's start: where the power was cut, all start together.
    private static let boot = Duration.seconds(120)

    package private(set) var end: Duration

    /// - Parameters:
    ///   - isCommand: whether a person has started this, and not something that starts the same on many hosts.
    ///   - now: the time.
    package init(isCommand: Bool, at now: Duration) { end = isCommand ? Self.boot : max(Self.boot, now + Self.length) }

    /// Such an event.
    package mutating func begins(at now: Duration) { end = max(end, now + Self.length) }
}
