package import DNSMessage

/// This machine's name on its links: another one after each conflict, as avahi-daemon counts them; and the first one again, once nobody else has
/// it. A value.
package struct HostLabel: Sendable {
    /// From a conflict until the first name is asked for; doubled by each attempt that fails.
    package static let pause = Duration.seconds(60)
    package static let longestPause = Duration.seconds(600)
    /// The same where another program of this machine has the first name.
    package static let shortPause = Duration.seconds(5)
    /// What is added to a pause at random: programs of one machine, and hosts of one name, do not ask together.
    private static let spread = 1...1.25

    private enum Stage {
        /// It has its first name, since then; nil for always.
        case first(since: Duration?)
        /// It has one of this number, and asks for the first one then.
        case other(Int, asksAgain: Duration)
        /// It has one of this number, and asks for the first one.
        case asking(Int)
    }

    private let label: [UInt8]
    private var stage = Stage.first(since: nil)
    private var pause = Self.pause
    /// The last conflict about any of the names.
    private var lastConflict = Duration.zero
    /// The first of the conflicts since the machine had a name.
    private var contestedSince: Duration?
    private var random: any RandomNumberGenerator & Sendable

    package init(_ label: String, random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        (self.label, self.random) = (Array(label.utf8), random)
    }

    private var number: Int {
        switch stage {
        case .first: 1
        case .other(let number, _), .asking(let number): number
        }
    }

    /// The name that the machine has, or probes for: `tony.local`, `tony-2.local` …; nil for what is no label.
    package var name: DomainName? { name(number) }

    /// The first name, while the machine has another one.
    package var first: DomainName? { if case .first = stage { nil } else { name(1) } }

    /// The first name, while it is asked for.
    package var asked: DomainName? { if case .asking = stage { name(1) } else { nil } }

    /// When the first name is to be asked for; nil for never.
    package var asksAgain: Duration? { if case .other(_, let due) = stage { due } else { nil } }

    private func name(_ number: Int) -> DomainName? {
        let suffix = number > 1 ? Array("-\(number)".utf8) : []
        var text = label.prefix(DomainName.maximumLabelLength - suffix.count)
        // No character is cut in two.
        while !text.isEmpty, String(validating: text, as: UTF8.self) == nil { text = text.dropLast() }
        return try? DomainName(labels: [Array(text) + suffix, Array("local".utf8)])
    }

    // MARK: What becomes of it

    /// Another host has the name.
    package mutating func lost(at now: Duration) {
        lastConflict = now
        contestedSince = contestedSince ?? now
        switch stage {
        case .first(let since):
            // Who takes it again and again has it ever longer.
            pause = since.map { now - $0 < Self.longestPause } ?? false ? min(pause * 2, Self.longestPause) : Self.pause
            stage = .other(2, asksAgain: now + wait())
        case .other(let number, let due): stage = .other(number + 1, asksAgain: due)
        case .asking(let number): stage = .asking(number + 1)
        }
    }

    /// The name is established on a link.
    package mutating func established() { contestedSince = nil }

    /// Whether one name after the other was lost for so long.
    package func isContested(for duration: Duration, at now: Duration) -> Bool {
        contestedSince.map { now - $0 >= duration } ?? false
    }

    /// Begins to ask for the first name.
    package mutating func ask() {
        if case .other(let number, _) = stage { stage = .asking(number) }
    }

    /// Another host still has the first name.
    package mutating func refused(at now: Duration) {
        guard case .asking(let number) = stage else { return }
        lastConflict = now
        pause = min(pause * 2, Self.longestPause)
        stage = .other(number, asksAgain: now + wait())
    }

    /// Nobody else has the first name: the machine has it again.
    package mutating func returned(at now: Duration) { stage = .first(since: now) }

    /// Another program of this machine has the first name, so it is this machine's.
    package mutating func isHadByOwnMachine() {
        guard case .other(let number, let due) = stage else { return }
        stage = .other(number, asksAgain: min(due, lastConflict + Self.shortPause))
    }

    private mutating func wait() -> Duration { pause * Double.random(in: Self.spread, using: &random) }
}
