#if Commands
internal import CommandFrame
internal import Libc
internal import PeerIdentity
internal import DiscoverySystem

/// What is said in one attempt: both sides' numbers, the code, both persons' answers; and the key, stored where both said yes.
struct PairingConversation {
    /// What it hears.
    private enum News: Sendable {
        case heard([UInt8])
        case ended
        /// What the person typed; nil for nothing.
        case answered(String?)
        case late
    }

    private var exchange: PairingExchange
    private let peer: PairingPeer
    private let socket: Socket
    private let report: PairingReport
    private let claim: @Sendable () -> PairingAttempts.Turn?
    private let news: AsyncStream<News>
    private let sink: AsyncStream<News>.Continuation
    private var limit: Task<Void, Never>?
    private var asking: Task<Void, Never>?

    /// How long two programs may take until both show the code.
    private static let patience = Duration.seconds(10)
    /// How long a person may take.
    private static let patienceWithPeople = Duration.seconds(300)
    private static let anotherCalls = """

        The machine with that code is gone, and its question with it. Another one calls, with another code.
        Press Enter to see it:
        """
    /// More bytes than these belong to no exchange.
    private static let longest = 256

    /// - Parameter claim: called before the code is shown; nil where another attempt is before the person.
    init(
        _ exchange: PairingExchange, with peer: PairingPeer, over socket: Socket, _ report: PairingReport,
        _ claim: @escaping @Sendable () -> PairingAttempts.Turn?
    ) {
        self.exchange = exchange
        self.peer = peer
        self.socket = socket
        self.report = report
        self.claim = claim
        (news, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(2 * Self.longest))
    }

    /// Returns when it is decided.
    /// - Throws: `CommandError` where it came to nothing.
    mutating func run() async throws -> PairingTalk.End {
        let (socket, sink) = (socket, sink)
        limit = Task {
            if (try? await Task.sleep(for: Self.patience)) != nil { sink.yield(.late) }
        }
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
            case .late: throw CommandError(.unreachable, "no pairing: \(peer.name) takes no part in it")
            case .ended: throw CommandError(.ioError, "\(peer.name) went away; nothing was stored")
            case .answered(let text): if let end = try answer(text) { return end }
            case .heard(let bytes):
                try take(received(bytes))
            }
            switch exchange.outcome {
            case .agreed: return try await store()
            case .refusedByPeer: return .refused(Self.refusal("the other person said no"))
            case .refused, nil: break
            }
        }
        // Stopped. Without a terminal nobody can begin again: the other side is to end, too.
        if !TerminalQuestion.hasTerminal { try take(exchange.answer(false)) }
        throw CommandError(.notFound, "not paired; nothing was stored")
    }

    private mutating func received(_ bytes: [UInt8]) throws(CommandError) -> [PairingExchange.Step] {
        do throws(PairingExchange.Failure) {
            return try exchange.received(bytes)
        } catch {
            throw CommandError(.unreachable, "no pairing with \(peer.name): \(error)")
        }
    }

    private mutating func take(_ steps: [PairingExchange.Step]) throws {
        for step in steps {
            if case .compare(let code) = step { try ask(code) }
        }
        for step in steps {
            guard case .send(let bytes) = step else { continue }
            // Where it fails, the end of the connection is heard, too.
            _ = Descriptor.write(bytes, to: socket.descriptor)
        }
    }

    private mutating func ask(_ code: PairingCode) throws {
        guard let turn = claim() else { throw CommandError(.cannotCreate, "another machine is being paired") }
        limit?.cancel()
        report.comparing(code, peer)
        let (question, sink) = (peer.question(code), sink)
        let limit = Self.patienceWithPeople
        asking = Task {
            // What is typed now may be the answer to the code before.
            if turn == .afterLoss, await TerminalQuestion.ask(Self.anotherCalls, within: limit) == nil {
                sink.yield(.answered(nil))
            } else {
                sink.yield(.answered(await TerminalQuestion.ask(question, answers: ["yes", "no"], within: limit)))
            }
        }
    }

    private mutating func answer(_ text: String?) throws -> PairingTalk.End? {
        let isSame = text == "yes"
        try take(exchange.answer(isSame))
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
                advice: ["Someone may be in between: compare the keys that 'discoverd identity' prints instead."]))
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
