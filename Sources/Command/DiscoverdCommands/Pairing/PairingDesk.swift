#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoverySystem
internal import PeerIdentity

/// Answers callers that want to be paired, until one has been, a person says no, or five codes have failed.
///
/// Many callers may be at the handshake, and a silent one keeps no other out; the person sees one at a time.
struct PairingDesk: Sendable {
    /// How many failures are reported.
    private static let mostTold = 10

    private struct State: Sendable {
        var attempts = PairingAttempts()
        var told = 0
    }

    private let acceptor: Acceptor
    private let talk: PairingTalk
    private let notices: ProgramNotices
    private let state = Locked(State())
    private let room = NewcomerRoom()

    init(_ acceptor: Acceptor, _ talk: PairingTalk, _ notices: ProgramNotices) {
        (self.acceptor, self.talk, self.notices) = (acceptor, talk, notices)
    }

    /// Stops accepting.
    func end() { acceptor.end() }

    /// Withdraws the publication when it is done.
    func run(until publication: Publication) async throws {
        do {
            try await run()
        } catch {
            // Also ends the publication.
            await publication.withdraw()
            throw error
        }
        await publication.withdraw()
    }

    private func run() async throws {
        // The first decision counts. The question that is open ends with it.
        switch try await acceptor.first({ socket in await room.run(socket) { leave in await answer(socket, leave) } }) {
        case .paired: return
        case .refused(let error), .failed(let error): throw error
        case nil: throw CommandError(.notFound, "not paired; nothing was stored")
        }
    }

    /// - Parameter leave: called when its code is before the person, or waits for it.
    /// - Returns: nil where others may still come.
    private func answer(_ socket: Socket, _ leave: @escaping @Sendable () -> Void) async -> PairingTalk.End? {
        let address = (socket.peerAddress?.unmapped).map { [PairingAttempts.Origin.address($0)] } ?? []
        let mine = Locked<[PairingAttempts.Origin]?>(nil)
        let turns = PairingTurns { key in
            let origins = [.key(key)] + address
            guard let turn = state.withLock({ $0.attempts.claim(origins, now: .now) }) else { return nil }
            mine.withLock { $0 = origins }
            leave()
            return turn
        } shown: {
            state.withLock { $0.attempts.show() }
        }
        let end = await talk.run(socket, turns)
        let origins = mine.withLock { $0 }
        let hadCode = origins != nil
        let (isOther, areSpent, isTold) = state.withLock { state in
            if let origins { state.attempts.leave(origins, now: .now) }
            // A connection that gave way is not worth a line.
            if !Task.isCancelled { state.told += 1 }
            return (state.attempts.isTaken, state.attempts.areSpent, state.told <= Self.mostTold && !Task.isCancelled)
        }
        switch end {
        case .paired: return end
        // While another's code is shown, no third caller decides.
        case .refused where !isOther || hadCode: return end
        case .refused(let error), .failed(let error):
            if areSpent {
                return .failed(
                    CommandError(
                        .notPermitted, "\(PairingAttempts.limit) codes came to nothing; nothing was stored",
                        advice: [
                            "Someone may be trying codes: 'discoverd key show' and 'discoverd key add' need none."
                        ]))
            }
            if isTold {
                notices.notice("an attempt came to nothing: \(error.message)")
                for line in error.advice { notices.notice("  \(line)") }
            }
            return nil
        }
    }
}

/// Which attempts a waiting machine makes. A value.
///
/// A code counts once it is shown. Before that, the other side learns nothing about it, so a caller that leaves costs nothing.
struct PairingAttempts: Sendable {
    /// How many codes one command shows, however much time there is.
    static let limit = 5
    /// How long a caller waits that failed twice, so that others get a turn.
    static let pause = Duration.seconds(60)
    /// How many callers are remembered.
    private static let mostOrigins = 256

    /// When a code comes before the person.
    enum Turn: Sendable {
        case first
        /// A code was shown before: the answer to it may still be on its way.
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

    /// A code is shown to the person, or waits to be.
    private(set) var isTaken = false
    private var shown = 0
    private var failures: [Origin: Failures] = [:]

    /// No code is left.
    var areSpent: Bool { !isTaken && shown >= Self.limit }

    /// Asks to show a code; nil if that is not allowed.
    mutating func claim(_ origins: [Origin], now: ContinuousClock.Instant) -> Turn? {
        guard !isTaken, shown < Self.limit, !origins.contains(where: { waits($0, now) }) else { return nil }
        isTaken = true
        return shown == 0 ? .first : .afterLoss
    }

    /// The code is shown.
    mutating func show() { shown += 1 }

    /// The attempt that had the turn has failed.
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
    /// Asks to show a code to the peer with this key; nil if that is not allowed.
    var claim: @Sendable (KeyFingerprint) -> PairingAttempts.Turn?
    /// The code is shown.
    var shown: @Sendable () -> Void

    /// The only attempt of a caller.
    static let only = PairingTurns(claim: { _ in .first }, shown: {})
}
#endif
