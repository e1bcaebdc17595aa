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

    /// That of what a person has started, and nothing that starts the same on many hosts.
    package static let ofCommand = Unrest(end: boot)

    private init(end: Duration) { self.end = end }

    /// Begins with the start of this program.
    package init(at now: Duration) { end = max(Self.boot, now + Self.length) }

    /// Such an event.
    package mutating func begins(at now: Duration) { end = max(end, now + Self.length) }
}
