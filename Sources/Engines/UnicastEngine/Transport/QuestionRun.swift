import DNSMessage
import NIOCore

/// Carries out the steps of `Attempts` for one question. Used on its event loop.
final class QuestionRun: TransportRun {
    private let transport: DNSTransport
    private let question: Question
    private let flags: Message.Flags
    private var attempts: Attempts
    private var completion: ((Result<(Message, ServerAddress), DNSFailure>) -> Void)?
    /// Nil until its turn has come.
    private var start: Duration?
    private var timer: Scheduled<Void>?
    private var datagrams: [DatagramExchange] = []
    private var onStream: (stream: DNSStream, id: UInt16)?
    /// When each server was first asked.
    private var asked: [ServerAddress: Duration] = [:]

    init(
        _ question: Question, flags: Message.Flags, attempts: Attempts, on transport: DNSTransport,
        completion: @escaping (Result<(Message, ServerAddress), DNSFailure>) -> Void
    ) {
        (self.question, self.flags, self.transport) = (question, flags, transport)
        (self.attempts, self.completion) = (attempts, completion)
    }

    func begin() {
        guard completion != nil else { return transport.leave() }
        start = transport.now
        perform(attempts.next(at: .zero))
    }

    func giveUp(_ failure: DNSFailure) { finish(.failure(failure)) }

    private var elapsed: Duration { transport.now - (start ?? transport.now) }

    private func perform(_ step: Attempts.Step) {
        guard completion != nil else { return }
        switch step {
        case .send(let attempt): send(attempt)
        case .wait: break
        case .done(let message, let server):
            transport.silentServers.remove(server)
            for (other, time) in asked where other != server && elapsed - time >= .milliseconds(900) {
                transport.silentServers.add(other, at: transport.now)
            }
            return finish(.success((message, server)))
        case .failed(let reason): return finish(.failure(.silent(reason)))
        }
        guard completion != nil else { return }
        timer?.cancel()
        timer = transport.after(attempts.deadline - elapsed) { [weak self] in
            guard let self else { return }
            perform(attempts.next(at: elapsed))
        }
    }

    private func send(_ attempt: Attempts.Attempt) {
        if asked[attempt.server] == nil { asked[attempt.server] = elapsed }
        switch attempt.transport {
        case .udp:
            let id = UInt16.random(in: .min ... .max)
            guard let bytes = written(attempt, id: id) else { return }
            datagrams.append(
                DatagramExchange(
                    bytes, to: attempt.server, on: transport.eventLoop,
                    receive: { [weak self] in _ = self?.received($0, id: id, attempt) },
                    lost: { [weak self] in self?.lost(attempt, $0) }))
        case .tcp: sendOverTCP(attempt, isAgain: false)
        }
    }

    private func sendOverTCP(_ attempt: Attempts.Attempt, isAgain: Bool) {
        let stream = transport.stream(to: attempt.server)
        let id = stream.freeID()
        guard let bytes = written(attempt, id: id) else { return }
        onStream = (stream, id)
        let waiter = DNSStream.Waiter(
            receive: { [weak self] in self?.received($0, id: id, attempt) ?? true },
            lost: { [weak self] error in
                guard let self, completion != nil else { return }
                onStream = nil
                if stream.hasAnswered, !isAgain {
                    sendOverTCP(attempt, isAgain: true)
                } else {
                    lost(attempt, error)
                }
            })
        stream.send(bytes, id: id, waiter)
    }

    private func written(_ attempt: Attempts.Attempt, id: UInt16) -> [UInt8]? {
        let message = Message(
            id: id, flags: flags, questions: [question], edns: attempt.hasEDNS ? EDNS(payloadSize: 1232) : nil)
        guard let bytes = try? message.written(compression: .unicast) else {
            finish(.failure(.impossible("the question cannot be written")))
            return nil
        }
        return bytes
    }

    /// Takes a message.
    /// - Returns: whether no more messages are expected.
    private func received(_ bytes: [UInt8], id: UInt16, _ attempt: Attempts.Attempt) -> Bool {
        guard completion != nil, let message = try? Message(reading: bytes), message.answers(question, id: id) else {
            return completion == nil
        }
        if attempt.transport == .tcp { onStream = nil }
        perform(attempts.received(message, to: attempt, at: elapsed))
        return true
    }

    private func lost(_ attempt: Attempts.Attempt, _ error: any Error) {
        guard completion != nil else { return }
        if DNSFailure.isOfSystem(error) {
            return finish(.failure(.system(DNSFailure.reason(error))))
        }
        perform(attempts.lost(attempt, DNSFailure.reason(error), at: elapsed))
    }

    private func finish(_ result: Result<(Message, ServerAddress), DNSFailure>) {
        guard let completion else { return }
        self.completion = nil
        timer?.cancel()
        for datagram in datagrams { datagram.close() }
        datagrams = []
        if let onStream {
            var isSilent = false
            if case .failure = result { isSilent = true }
            onStream.stream.forget(onStream.id, isSilent: isSilent && elapsed >= .seconds(1))
        }
        onStream = nil
        if start != nil { transport.leave() }
        completion(result)
    }
}

extension Message {
    /// Returns whether the message answers a question that was sent with this id. A server that could not read the
    /// question need not repeat it.
    func answers(_ question: Question, id: UInt16) -> Bool {
        self.id == id && flags.contains(.response) && opcode == 0
            && (questions == [question] || questions.isEmpty && responseCode == ResponseCode.formatError)
    }
}
