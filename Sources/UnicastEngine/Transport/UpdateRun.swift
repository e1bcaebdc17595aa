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
final class UpdateRun: TransportRun {
    /// The time for the whole update, within the 5 s for which a caller waits.
    private static let limit = Duration.seconds(4)

    private let transport: DNSTransport
    private let update: Message
    private let server: ServerAddress
    private let key: TSIGKey?
    private var completion: ((Result<UpdateAnswer, DNSFailure>) -> Void)?
    private var pending: PendingUpdate?
    private var onStream: (stream: DNSStream, id: UInt16)?
    private var timer: Scheduled<Void>?
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
        timer = transport.after(Self.limit) { [weak self] in self?.timeIsUp() }
        send(isAgain: false)
    }

    func giveUp(_ failure: DNSFailure) { finish(.failure(failure)) }

    private func send(isAgain: Bool) {
        let stream = transport.stream(to: server)
        let id = stream.freeID()
        do throws(DNSFailure) {
            let pending = try PendingUpdate(update, id: id, key: key, at: WallClock.seconds)
            self.pending = pending
            onStream = (stream, id)
            let waiter = DNSStream.Waiter(
                receive: { [weak self] in self?.received($0) ?? true },
                lost: { [weak self] in self?.lost($0, mayRetry: stream.hasAnswered && !isAgain) })
            stream.send(pending.request, id: id, waiter)
        } catch {
            finish(.failure(error))
        }
    }

    /// Takes a message.
    /// - Returns: whether no more messages are expected.
    private func received(_ bytes: [UInt8]) -> Bool {
        guard completion != nil else { return true }
        switch pending?.receive(bytes, at: WallClock.seconds) {
        case .done(let answer):
            onStream = nil
            finish(.success(answer))
            return true
        case .hint:
            // Waits a little for a signed answer, but less than without any answer.
            timer?.cancel()
            timer = transport.after(min(PendingUpdate.patience, end - transport.now)) { [weak self] in
                self?.timeIsUp()
            }
            return false
        case .foreign, nil: return false
        }
    }

    private func lost(_ error: any Error, mayRetry: Bool) {
        guard completion != nil else { return }
        onStream = nil
        if let hint = pending?.hint { return finish(.success(hint)) }
        // A server may close an idle connection just as the message arrives.
        if mayRetry { return send(isAgain: true) }
        let reason = DNSFailure.reason(error)
        finish(
            .failure(DNSFailure.isOfSystem(error) ? .system(reason) : .silent("\(server): \(reason)")))
    }

    private func timeIsUp() {
        if let hint = pending?.hint {
            finish(.success(hint))
        } else if pending?.sawForgery == true {
            finish(.failure(.silent("the answers of \(server) do not have its signature")))
        } else {
            finish(.failure(.silent("no answer from \(server) within \(Self.limit)")), isSilent: true)
        }
    }

    private func finish(_ result: Result<UpdateAnswer, DNSFailure>, isSilent: Bool = false) {
        guard let completion else { return }
        self.completion = nil
        timer?.cancel()
        if let onStream { onStream.stream.forget(onStream.id, isSilent: isSilent) }
        onStream = nil
        if timer != nil { transport.leave() }
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
