/// The packets that come at once for a list, and when to ask for what they leave out.
///
/// A responder sends the records of what it lists in the same packet or right behind it. Where thousands are listed, they take many packets, and
/// come later: a question for each, put meanwhile, would be answered before it is read. The wait follows what comes.
///
/// A value: receives events with their times.
package struct ListBurst: Sendable {
    /// The silence after which a burst is over.
    private static let silence = Duration.milliseconds(20)
    /// What a service may take, and all of them together.
    private static let perKey = Duration.microseconds(25)
    private static let longest = Duration.milliseconds(100)
    /// The most that a question waits: who sends without end holds nothing up.
    private static let limit = Duration.milliseconds(300)
    /// What is listed later than this after the last packet begins another burst.
    private static let pause = Duration.milliseconds(100)
    /// So few questions fit a packet, and wait for nothing but their own time.
    private static let few = 16

    private var began = Duration.zero
    private var last: Duration?
    private var keys = 0

    package init() {}

    /// A list has led to a question.
    package mutating func listed(at now: Duration) {
        if last.map({ now - $0 > Self.pause }) ?? true { (began, keys) = (now, 0) }
        (last, keys) = (now, keys + 1)
    }

    /// Something new came.
    package mutating func heard(at now: Duration) { if last != nil { last = now } }

    /// When such questions may be asked.
    package var end: Duration {
        guard keys > Self.few, let last else { return .zero }
        let expected = began + Self.silence + min(Self.perKey * keys, Self.longest)
        return min(max(expected, last + Self.silence), began + Self.limit)
    }
}
