import DNSMessage
import NIOCore

/// Decides to which server a question goes next, and when to give up. A value; times count from the question's
/// beginning.
struct Attempts: Sendable {
    /// The time limits of a question.
    struct Limits: Hashable, Sendable {
        /// The time for all attempts. It leaves room for other questions within the 5 s for which a caller waits.
        var total = Duration.seconds(4)
        /// The time until the next attempt.
        var interval = Duration.seconds(1)

        /// Creates the default limits, or those of /etc/resolv.conf if they are shorter.
        init(_ settings: ResolverSettings? = nil) {
            guard let settings else { return }
            interval = min(interval, settings.timeout ?? interval)
            if let timeout = settings.timeout {
                total = min(total, timeout * ((settings.attempts ?? 2) * max(1, settings.servers.count)))
            }
        }
    }

    /// How a message travels.
    enum Transport: Hashable, Sendable { case udp, tcp }

    /// A message sent to a server.
    struct Attempt: Hashable, Sendable {
        var server: ServerAddress
        var transport: Transport
        /// The message's OPT record; nil for a server that knows none.
        var edns: EDNS?
    }

    /// What a server is told that may know it.
    static let edns = EDNS(payloadSize: 1232)

    /// What the caller must do.
    enum Step: Hashable, Sendable {
        case send(Attempt)
        case wait
        case done(Message, ServerAddress)
        case failed(String)
    }

    /// When to call `next`.
    private(set) var deadline = Duration.zero

    private let servers: [ServerAddress]
    private let limits: Limits
    private var turn = 0
    private var withoutEDNS: Set<ServerAddress> = []
    private var overTCP: Set<ServerAddress> = []
    /// The servers that are not asked again, and why.
    private var refusals: [ServerAddress: String] = [:]
    /// The first answer of a server that failed or refused; returned if no other server has a better one.
    private var fallback: (Message, ServerAddress)?

    init(servers: [ServerAddress], limits: Limits) {
        (self.servers, self.limits) = (servers, limits)
    }

    /// The question begins, or the deadline has passed.
    mutating func next(at time: Duration) -> Step {
        guard time < limits.total else { return end("no answer from \(names) within \(limits.total)") }
        let left = servers.filter { refusals[$0] == nil }
        guard !left.isEmpty else {
            return end(
                servers.compactMap { server in refusals[server].map { "\(server): \($0)" } }.joined(separator: "; "))
        }
        deadline = min(time + limits.interval, limits.total)
        // Servers asked over TCP are not asked over UDP as well.
        let candidates = left.filter { !overTCP.contains($0) }
        guard !candidates.isEmpty else { return .wait }
        defer { turn += 1 }
        let server = candidates[turn % candidates.count]
        return .send(Attempt(server: server, transport: .udp, edns: withoutEDNS.contains(server) ? nil : Self.edns))
    }

    /// An answer to the question arrived.
    mutating func received(_ message: Message, to attempt: Attempt, at time: Duration) -> Step {
        let server = attempt.server
        switch message.responseCode {
        case ResponseCode.formatError, ResponseCode.notImplemented:
            // Some servers do not support EDNS (RFC 6891 §7).
            guard attempt.edns != nil else { return passOver(message, server, at: time) }
            // Said again of the attempt with EDNS, it says nothing of the one without, which is under way.
            guard withoutEDNS.insert(server).inserted else { return .wait }
            return .send(Attempt(server: server, transport: attempt.transport, edns: nil))
        case ResponseCode.serverFailure, ResponseCode.refused: return passOver(message, server, at: time)
        default:
            guard message.flags.contains(.truncated), attempt.transport == .udp else { return .done(message, server) }
            guard overTCP.insert(server).inserted else { return .wait }
            deadline = limits.total
            return .send(Attempt(server: server, transport: .tcp, edns: attempt.edns))
        }
    }

    /// A message did not reach the server, or the connection ended.
    mutating func lost(_ attempt: Attempt, _ reason: String, at time: Duration) -> Step {
        refusals[attempt.server] = reason
        return next(at: time)
    }

    private mutating func passOver(_ message: Message, _ server: ServerAddress, at time: Duration) -> Step {
        if fallback == nil { fallback = (message, server) }
        // A datagram may come several times. Only the first copy has the next server asked.
        guard refusals[server] == nil else { return .wait }
        refusals[server] = "it answers \(ResponseCode.name(of: message.responseCode))"
        return next(at: time)
    }

    private func end(_ reason: String) -> Step {
        fallback.map { .done($0.0, $0.1) } ?? .failed(reason)
    }

    private var names: String { servers.map(\.description).joined(separator: " and ") }
}

/// Carries out the steps of `Attempts` for one question. Used on its event loop.
final class QuestionRun: TransportRun {
    private static let flags: Message.Flags = [.recursionDesired, .authenticData]

    private let transport: DNSTransport
    private let question: Question
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
        _ question: Question, attempts: Attempts, on transport: DNSTransport,
        completion: @escaping (Result<(Message, ServerAddress), DNSFailure>) -> Void
    ) {
        (self.question, self.transport) = (question, transport)
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
        case .failed(let reason): return finish(.failure(.silent(reason)), isSilent: elapsed >= .seconds(1))
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
        let message = Message(id: id, flags: Self.flags, questions: [question], edns: attempt.edns)
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

    /// - Parameter isSilent: whether the server did not answer in time. Where the caller no longer waits, others may go on on its connection.
    private func finish(_ result: Result<(Message, ServerAddress), DNSFailure>, isSilent: Bool = false) {
        guard let completion else { return }
        self.completion = nil
        timer?.cancel()
        for datagram in datagrams { datagram.close() }
        datagrams = []
        if let (stream, id) = onStream { stream.forget(id, isSilent: isSilent) }
        onStream = nil
        if start != nil { transport.leave() }
        transport.ended(self)
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
