#if Commands
internal import CommandFrame
internal import Discovery
internal import DiscoverySystem

/// Which attempts a waiting machine makes. A value.
struct PairingAttempts: Sendable {
    /// So many codes are shown by one command, however much time there is.
    static let limit = 5

    /// When a code comes before the person.
    enum Turn: Sendable {
        case first
        /// The one before it was there in vain: an answer to that may still be on its way.
        case afterLoss
    }

    /// A code is before the person.
    private(set) var isTaken = false
    private var count = 0

    /// None is left.
    var areSpent: Bool { !isTaken && count >= Self.limit }

    /// A code is about to be shown; nil where it may not be.
    mutating func claim() -> Turn? {
        guard !isTaken, count < Self.limit else { return nil }
        isTaken = true
        count += 1
        return count == 1 ? .first : .afterLoss
    }

    /// The attempt with the code has ended.
    mutating func leave() { isTaken = false }
}

/// Answers whoever dials in to be paired, until one was, a person said no, or five codes came to nothing.
///
/// Several may be at the handshake, so that a silent one keeps no other out; one at a time is before the person.
struct PairingDesk: Sendable {
    /// So many connections at a time.
    static let candidates = 16
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

    init(_ acceptor: Acceptor, _ talk: PairingTalk, _ notices: ProgramNotices) {
        self.acceptor = acceptor
        self.talk = talk
        self.notices = notices
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
                            if let end = await answer(socket) { sink.yield(end) }
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

    /// - Returns: nil where others may still come.
    private func answer(_ socket: Socket) async -> PairingTalk.End? {
        let isMine = Locked(false)
        let end = await talk.run(socket) {
            let turn = state.withLock { $0.attempts.claim() }
            isMine.withLock { $0 = turn != nil }
            return turn
        }
        let hadCode = isMine.withLock { $0 }
        let (isOther, areSpent, isTold) = state.withLock { state in
            if hadCode { state.attempts.leave() }
            state.told += 1
            return (state.attempts.isTaken, state.attempts.areSpent, state.told <= Self.mostTold)
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
#endif
