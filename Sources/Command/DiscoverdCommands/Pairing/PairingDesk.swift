#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoverySystem
internal import PeerIdentity

/// Answers whoever dials in to be paired, until one was, a person said no, or five codes came to nothing.
///
/// Many may be at the handshake, and none keeps another out by being silent; one at a time is before the person.
struct PairingDesk: Sendable {
    /// So many failures are told.
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
        let connections = try acceptor.connections()
        // The first decision counts.
        let (decisions, sink) = AsyncStream.makeStream(of: PairingTalk.End.self, bufferingPolicy: .bufferingOldest(1))
        try await withTaskCancellationHandler {
            let answering = Task {
                await withDiscardingTaskGroup { group in
                    for await socket in connections {
                        group.addTask {
                            let end = await room.run(socket) { leave in await answer(socket, leave) }
                            if let end { sink.yield(end) }
                            acceptor.release()
                        }
                    }
                }
                sink.finish()
            }
            var decided: PairingTalk.End?
            for await decision in decisions {
                decided = decision
                break
            }
            acceptor.end()
            answering.cancel()
            // Whoever is at a question is told.
            await answering.value
            switch decided {
            case .paired: return
            case .refused(let error), .failed(let error): throw error
            case nil: throw CommandError(.notFound, "not paired; nothing was stored")
            }
        } onCancel: {
            acceptor.end()
            sink.finish()
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
            // One that had to give way is not worth a line.
            if !Task.isCancelled { state.told += 1 }
            return (state.attempts.isTaken, state.attempts.areSpent, state.told <= Self.mostTold && !Task.isCancelled)
        }
        switch end {
        case .paired: return end
        // While another's code is before the person, no third one decides.
        case .refused where !isOther || hadCode: return end
        case .refused(let error), .failed(let error):
            if areSpent {
                return .failed(
                    CommandError(
                        .notPermitted, "\(PairingAttempts.limit) codes came to nothing; nothing was stored",
                        advice: [
                            "Someone may be trying codes: 'discoverd identity' and 'discoverd known add' need none."
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
