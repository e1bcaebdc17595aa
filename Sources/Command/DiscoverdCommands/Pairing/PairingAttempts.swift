#if Commands
internal import DNSSD
internal import PeerIdentity

/// Which attempts a waiting machine makes. A value.
///
/// A code counts when it is shown. Before that, nothing is said from which the other side could know it: who goes before costs nothing.
struct PairingAttempts: Sendable {
    /// So many codes are shown by one command, however much time there is.
    static let limit = 5
    /// Who came to nothing twice waits this long, so that others have their turn.
    static let pause = Duration.seconds(60)
    /// So many of these are known.
    private static let mostOrigins = 256

    /// When a code comes before the person.
    enum Turn: Sendable {
        case first
        /// Another was there in vain: an answer to that may still be on its way.
        case afterLoss
    }

    /// Whose attempt it is.
    enum Origin: Hashable, Sendable {
        case key(KeyFingerprint)
        /// Keys cost nothing.
        case address(IPAddress)
    }

    private struct Failures {
        var count = 0
        var last: ContinuousClock.Instant
    }

    /// A code is before the person, or waits for it.
    private(set) var isTaken = false
    private var shown = 0
    private var failures: [Origin: Failures] = [:]

    /// None is left.
    var areSpent: Bool { !isTaken && shown >= Self.limit }

    /// A code could be shown; nil where it may not be.
    mutating func claim(_ origins: [Origin], now: ContinuousClock.Instant) -> Turn? {
        guard !isTaken, shown < Self.limit, !origins.contains(where: { waits($0, now) }) else { return nil }
        isTaken = true
        return shown == 0 ? .first : .afterLoss
    }

    /// The code is shown.
    mutating func show() { shown += 1 }

    /// The attempt that had the turn has come to nothing.
    mutating func leave(_ origins: [Origin], now: ContinuousClock.Instant) {
        isTaken = false
        for origin in origins {
            failures[origin, default: Failures(last: now)].count += 1
            failures[origin]?.last = now
        }
        guard failures.count > Self.mostOrigins else { return }
        failures = failures.filter { now - $0.value.last < Self.pause }
        while failures.count > Self.mostOrigins, let oldest = failures.min(by: { $0.value.last < $1.value.last }) {
            failures[oldest.key] = nil
        }
    }

    private func waits(_ origin: Origin, _ now: ContinuousClock.Instant) -> Bool {
        failures[origin].map { $0.count > 1 && now - $0.last < Self.pause } ?? false
    }
}

/// What the attempts of a machine that waits have in common.
struct PairingTurns: Sendable {
    /// A code could be shown to who has this key; nil where it may not be.
    var claim: @Sendable (KeyFingerprint) -> PairingAttempts.Turn?
    /// The code is shown.
    var shown: @Sendable () -> Void

    /// The one attempt of who has dialled.
    static let only = PairingTurns(claim: { _ in .first }, shown: {})
}
#endif
