/// How long what another site has told of a type counts while it is away. A value.
///
/// A break ends when the site has told everything again, not when it answers: until then nobody knows what is still there.
struct PeerAbsence: Sendable {
    /// As long as the records of a mirrored host (RFC 6762 §10): a mirror that is killed leaves nothing that lives longer.
    static let patience = Duration.seconds(120)

    private enum State {
        case present
        case away(since: Duration)
        case over
    }

    private var state = State.present

    /// It went away, or could not be reached.
    mutating func lost(at now: Duration) { if case .present = state { state = .away(since: now) } }

    /// It has told everything.
    /// - Returns: whether all of it was withdrawn, and is to be told again.
    mutating func told() -> Bool {
        defer { state = .present }
        return if case .over = state { true } else { false }
    }

    /// When all is to be withdrawn.
    var deadline: Duration? { if case .away(let since) = state { since + Self.patience } else { nil } }

    /// All is to be withdrawn now: true once.
    mutating func isOver(at now: Duration) -> Bool {
        guard let deadline, deadline <= now else { return false }
        state = .over
        return true
    }

    /// What is told counts.
    var counts: Bool { if case .over = state { false } else { true } }
}
