internal import Discovery
internal import DiscoverySystem

/// When a daemon that says nothing is asked whether it answers at all: one that hangs ends no connection. A value.
struct Heartbeat: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// After so long without a word it is asked.
    private let silence: Duration
    private var last: Instant?
    /// It was asked in vain, and has said nothing since.
    private(set) var isMissed = false

    init(silence: Duration = .seconds(5)) { self.silence = silence }

    /// It has said something, or answered.
    mutating func heard(at now: Instant) { (last, isMissed) = (now, false) }

    /// It was asked in vain.
    mutating func missed(at now: Instant) { (last, isMissed) = (now, true) }

    /// When to ask for the sake of a response that began at a time.
    func isDue(since began: Instant) -> Instant { max(last ?? began, began) + silence }

    /// Whether it answers; nil where it must be asked.
    func answers(at now: Instant) -> Bool? {
        guard let last, now < last + silence else { return nil }
        return !isMissed
    }
}

/// The heartbeat of one daemon, for all that is open with it: whatever it says on one of its connections is a sign of life for the others.
final class Pulse: Sendable {
    let place: ControlPlace
    private let heartbeat: Locked<Heartbeat>
    private let question = Locked(())

    init(_ place: ControlPlace) {
        self.place = place
        heartbeat = Locked(Heartbeat(silence: place.silence))
    }

    /// It was asked in vain, and has said nothing since.
    var isMissed: Bool { heartbeat.withLock { $0.isMissed } }

    func heard() { heartbeat.withLock { $0.heard(at: .now) } }

    func deadline(since began: ContinuousClock.Instant) -> Deadline {
        Deadline(at: heartbeat.withLock { $0.isDue(since: began) })
    }

    /// Whether the daemon answers. Asks unless that is known, and waits on this thread meanwhile; one asks for all.
    func answers() -> Bool {
        question.withLock { _ in
            if let known = heartbeat.withLock({ $0.answers(at: .now) }) { return known }
            // Too busy is an answer.
            let answers = (try? ControlClient(place).answers(until: Deadline(in: place.answer))) == true
            heartbeat.withLock { answers ? $0.heard(at: .now) : $0.missed(at: .now) }
            return answers
        }
    }
}
