import DNSMessage
import Libc
import NIOCore

/// A message that waits for its turn, and is then under way until it is answered or given up.
protocol TransportRun: AnyObject {
    /// The message's turn has come.
    func begin()
    /// The caller no longer waits, or the message cannot begin.
    func giveUp(_ failure: DNSFailure)
}

/// Sends one update, and waits for its answer. Uses TCP, because some servers accept updates in no other way. Used on
/// its event loop.
///
/// An answer that does not come is sent for again, once, over another connection: a middlebox may have lost this one. The
/// first may still be answered, and counts as well.
final class UpdateRun: TransportRun {
    /// The time for the whole update, within the 5 s for which a caller waits.
    private static let limit = Duration.seconds(4)
    /// How long to wait until it is sent again.
    private static let patience = Duration.milliseconds(1500)

    /// The update as it was sent over one connection.
    private struct Sent {
        var pending: PendingUpdate
        /// Nil once the connection has ended.
        var stream: DNSStream?
        let id: UInt16
    }

    private let transport: DNSTransport
    private let update: Message
    private let server: ServerAddress
    private let key: TSIGKey?
    private var completion: ((Result<UpdateAnswer, DNSFailure>) -> Void)?
    private var sent: [Sent] = []
    private var timers: [Scheduled<Void>] = []
    private var end = Duration.zero

    init(
        _ update: Message, to server: ServerAddress, key: TSIGKey?, on transport: DNSTransport,
        completion: @escaping (Result<UpdateAnswer, DNSFailure>) -> Void
    ) {
        (self.update, self.server, self.key, self.transport) = (update, server, key, transport)
        self.completion = completion
    }

    func begin() {
        guard completion != nil else { return transport.leave() }
        end = transport.now + Self.limit
        timers = [
            transport.after(Self.limit) { [weak self] in self?.timeIsUp() },
            transport.after(Self.patience) { [weak self] in self?.sendAgain() },
        ]
        send(over: transport.stream(to: server))
    }

    func giveUp(_ failure: DNSFailure) { finish(.failure(failure)) }

    private func sendAgain() {
        guard completion != nil, sent.count == 1, hint == nil else { return }
        let current = transport.stream(to: server)
        send(over: current === sent[0].stream ? transport.freshStream(to: server) : current)
    }

    private func send(over stream: DNSStream) {
        let (number, id) = (sent.count, stream.freeID())
        do throws(DNSFailure) {
            let pending = try PendingUpdate(update, id: id, key: key, at: WallClock.seconds)
            sent.append(Sent(pending: pending, stream: stream, id: id))
            let waiter = DNSStream.Waiter(
                receive: { [weak self] in self?.received($0, to: number) ?? true },
                lost: { [weak self] in self?.lost($0, number, mayRetry: stream.hasAnswered) })
            stream.send(pending.request, id: id, waiter)
        } catch {
            finish(.failure(error))
        }
    }

    /// Takes a message.
    /// - Returns: whether no more messages are expected.
    private func received(_ bytes: [UInt8], to number: Int) -> Bool {
        guard completion != nil else { return true }
        switch sent[number].pending.receive(bytes, at: WallClock.seconds) {
        case .done(var answer):
            sent[number].stream = nil
            // The first of the two may have been carried out, and the second refused because of that.
            answer.isRepeated = sent.count > 1
            finish(.success(answer))
            return true
        case .hint:
            // Waits a little for a signed answer, but less than without any answer.
            for timer in timers { timer.cancel() }
            timers = [
                transport.after(min(PendingUpdate.patience, end - transport.now)) { [weak self] in self?.timeIsUp() }
            ]
            return false
        case .foreign: return false
        }
    }

    private func lost(_ error: any Error, _ number: Int, mayRetry: Bool) {
        guard completion != nil else { return }
        sent[number].stream = nil
        if let hint { return finish(.success(hint)) }
        // A server may close an idle connection just as the message arrives.
        if mayRetry, sent.count == 1 { return send(over: transport.stream(to: server)) }
        guard sent.allSatisfy({ $0.stream == nil }) else { return }
        let reason = DNSFailure.reason(error)
        finish(
            .failure(DNSFailure.isOfSystem(error) ? .system(reason) : .silent("\(server): \(reason)")))
    }

    /// The first unsigned answer.
    private var hint: UpdateAnswer? {
        for case .hint(let answer) in sent.compactMap(\.pending.suspect) { return answer }
        return nil
    }

    private func timeIsUp() {
        if let hint {
            finish(.success(hint))
        } else if sent.contains(where: { $0.pending.suspect == .forgery }) {
            finish(.failure(.silent("the answers of \(server) do not have its signature")))
        } else {
            finish(.failure(.silent("no answer from \(server) within \(Self.limit)")), isSilent: true)
        }
    }

    private func finish(_ result: Result<UpdateAnswer, DNSFailure>, isSilent: Bool = false) {
        guard let completion else { return }
        self.completion = nil
        for timer in timers { timer.cancel() }
        for one in sent { one.stream?.forget(one.id, isSilent: isSilent) }
        if !timers.isEmpty { transport.leave() }
        transport.ended(self)
        completion(result)
    }
}

/// The system's wall clock, which signatures use; it may be wrong.
enum WallClock {
    static var seconds: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(clamping: time.tv_sec)
    }
}
