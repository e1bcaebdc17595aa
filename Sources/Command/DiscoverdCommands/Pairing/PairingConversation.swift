#if Commands
internal import CommandFrame
internal import Libc
internal import PeerIdentity
internal import DiscoverySystem

/// One attempt: both sides' numbers, the code, both persons' answers; and the key, stored if both said yes.
struct PairingConversation {
    /// What it hears.
    private enum News: Sendable {
        case heard([UInt8])
        case ended
        /// The person is ready for the code.
        case ready
        /// What the person typed; nil for nothing.
        case answered(String?)
        case late
    }

    /// How far it is.
    private enum Stage {
        case exchanging
        /// The other side takes part, and its person has not looked yet.
        case expected
        /// The code waits for this side's person, and what makes it known to the other side waits with it.
        case waiting(PairingCode, [[UInt8]])
        case shown
    }

    private var exchange: PairingExchange
    private let role: PairingExchange.Role
    private let peer: PairingPeer
    private let socket: Socket
    private let report: PairingReport
    private let turns: PairingTurns
    private var stage = Stage.exchanging
    private let news: AsyncStream<News>
    private let sink: AsyncStream<News>.Continuation
    private var limit: Task<Void, Never>?
    private var asking: Task<Void, Never>?
    /// The other side's person has been waited for once.
    private var isPatient = false

    /// How long both programs may take to show the code, without the time for a person's Enter.
    private static let patience = Duration.seconds(10)
    /// How long a person may take.
    private static let patienceWithPeople = Duration.seconds(300)
    private static let anotherCalls = """

        The machine with that code is gone, and its question with it. Another one calls, with another code.
        Press Enter to see it:
        """
    /// No exchange has more bytes.
    private static let longest = 256

    init(
        _ exchange: PairingExchange, _ role: PairingExchange.Role, with peer: PairingPeer, over socket: Socket,
        _ report: PairingReport, _ turns: PairingTurns
    ) {
        (self.exchange, self.role, self.peer) = (exchange, role, peer)
        (self.socket, self.report, self.turns) = (socket, report, turns)
        (news, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(2 * Self.longest))
    }

    /// Returns when it is decided.
    /// - Throws: `CommandError` if it failed.
    mutating func run() async throws -> PairingTalk.End {
        let (socket, sink) = (socket, sink)
        expire(after: Self.patience)
        let result: Result<PairingTalk.End, any Error>
        do {
            try BlockingThread.start { Self.read(socket, into: sink) }
            try take(exchange.start())
            result = .success(try await listen())
        } catch {
            result = .failure(error)
        }
        limit?.cancel()
        asking?.cancel()
        // The next attempt may ask only then.
        await asking?.value
        return try result.get()
    }

    private mutating func listen() async throws -> PairingTalk.End {
        for await event in news {
            switch event {
            case .late: try late()
            case .ready: show()
            case .ended: throw CommandError(.ioError, "\(peer.name) went away; nothing was stored")
            case .answered(let text): if let end = try answer(text) { return end }
            case .heard(let bytes):
                let steps = try received(bytes)
                try take(steps)
                // A caller has sent everything that precedes the code.
                if role == .caller, case .exchanging = stage, !steps.isEmpty { stage = .expected }
            }
            switch exchange.outcome {
            case .agreed: return try await store()
            case .refusedByPeer:
                let error = Self.refusal("the other person said no")
                // Anyone can call a machine that waits, and refuse.
                return role == .caller ? .refused(error) : .failed(error)
            case .refused, nil: break
            }
        }
        // Stopped. Without a terminal no one can begin again, so the other side must end too.
        if !TerminalQuestion.hasTerminal { try say(false) }
        throw CommandError(.notFound, "not paired; nothing was stored")
    }

    private mutating func received(_ bytes: [UInt8]) throws(CommandError) -> [PairingExchange.Step] {
        do throws(PairingExchange.Failure) {
            // The other side cannot know the code yet.
            if case .waiting = stage { throw .early }
            return try exchange.received(bytes)
        } catch {
            throw CommandError(.unreachable, "no pairing with \(peer.name): \(error)")
        }
    }

    private mutating func take(_ steps: [PairingExchange.Step]) throws {
        let sendings = steps.compactMap { if case .send(let bytes) = $0 { bytes } else { nil } }
        for step in steps {
            if case .compare(let code) = step { return try compare(code, sendings) }
        }
        send(sendings)
    }

    private func send(_ sendings: [[UInt8]]) {
        // If writing fails, the end of the connection is reported as well.
        for bytes in sendings { _ = Descriptor.write(bytes, to: socket.descriptor) }
    }

    private mutating func expire(after time: Duration) {
        let sink = sink
        limit?.cancel()
        limit = Task {
            if (try? await Task.sleep(for: time)) != nil { sink.yield(.late) }
        }
    }

    private mutating func late() throws(CommandError) {
        guard case .expected = stage, !isPatient else {
            throw CommandError(.unreachable, "no pairing: \(peer.name) takes no part in it")
        }
        isPatient = true
        report.notices.notice("\(peer.name) waits for its person, who is to press Enter there")
        expire(after: Self.patienceWithPeople)
    }

    /// - Parameter sendings: what makes the code known to the other side, if anything does.
    private mutating func compare(_ code: PairingCode, _ sendings: [[UInt8]]) throws(CommandError) {
        guard let turn = turns.claim(peer.key) else {
            throw CommandError(.cannotCreate, "another machine is being paired, or this one was there in vain just now")
        }
        limit?.cancel()
        stage = .waiting(code, sendings)
        switch turn {
        case .first: show()
        case .afterLoss:
            let (sink, limit) = (sink, Self.patienceWithPeople)
            // What is typed now may answer the previous code.
            asking = Task {
                let isReady = await TerminalQuestion.ask(Self.anotherCalls, within: limit) != nil
                sink.yield(isReady ? .ready : .answered(nil))
            }
        }
    }

    /// Shows the code, and only then makes it known to the other side.
    private mutating func show() {
        guard case .waiting(let code, let sendings) = stage else { return }
        stage = .shown
        turns.shown()
        report.comparing(code, peer)
        send(sendings)
        let (question, sink, limit) = (peer.question(code), sink, Self.patienceWithPeople)
        asking = Task {
            sink.yield(.answered(await TerminalQuestion.ask(question, answers: ["yes", "no"], within: limit)))
        }
    }

    /// Sends the person's answer, if the code was shown.
    private mutating func say(_ isSame: Bool) throws {
        if case .shown = stage { try take(exchange.answer(isSame)) }
    }

    private mutating func answer(_ text: String?) throws -> PairingTalk.End? {
        let isSame = text == "yes"
        try say(isSame)
        if isSame {
            if exchange.outcome == nil { report.notices.notice("waiting for the other person's answer") }
            return nil
        }
        guard text != nil else {
            return .refused(
                TerminalQuestion.hasTerminal
                    ? Self.refusal("nobody answered")
                    : CommandError(.notFound, "the terminal went away; nothing was stored"))
        }
        return .refused(
            CommandError(
                .notPermitted, "the codes are not the same; nothing was stored",
                advice: ["Someone may be in between: compare the keys that 'discoverd key show' prints instead."]))
    }

    private func store() async throws -> PairingTalk.End {
        try await peer.store()
        report.paired(peer)
        return .paired
    }

    private static func refusal(_ reason: String) -> CommandError {
        CommandError(.notPermitted, "\(reason); nothing was stored")
    }

    private static func read(_ socket: Socket, into sink: AsyncStream<News>.Continuation) {
        var buffer = [UInt8](repeating: 0, count: 128)
        var total = 0
        while total < longest {
            let count = unsafe Libc.read(socket.descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            total += count
            sink.yield(.heard(Array(buffer[..<count])))
        }
        sink.yield(.ended)
    }
}
#endif
