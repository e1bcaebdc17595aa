import NIOCore
import NIOPosix

/// One TCP connection to a server, kept for many messages (RFC 7766). Used on its event loop.
final class DNSStream {
    /// How long the connection is kept without a message under way (RFC 7766 §6.2.3).
    static let idleLimit = TimeAmount.seconds(10)

    /// The receiver of an answer.
    struct Waiter {
        /// Takes a message with the waiter's id, and returns whether it was the last one.
        let receive: ([UInt8]) -> Bool
        /// Called if the connection ends before the answer comes.
        let lost: (any Error) -> Void
    }

    /// The error of a connection that ended before the answer came.
    struct Ended: Error {}

    private enum State {
        case connecting([ByteBuffer])
        case open(any Channel)
        case closed(any Error)
    }

    /// Whether the server has answered on this connection. It may then have closed it as idle, so that a lost message
    /// is worth a second try.
    private(set) var hasAnswered = false
    /// Whether the connection can no longer be used.
    var isClosed: Bool {
        if case .closed = state { true } else { false }
    }
    private let eventLoop: any EventLoop
    private var state = State.connecting([])
    private var waiters: [UInt16: Waiter] = [:]
    private var idle: Scheduled<Void>?
    private let ended: () -> Void

    /// Connects to a server.
    /// - Parameters:
    ///   - server: the server.
    ///   - eventLoop: the loop that carries the connection.
    ///   - ended: called once, when the connection can no longer be used.
    init(to server: ServerAddress, on eventLoop: any EventLoop, ended: @escaping () -> Void) {
        (self.eventLoop, self.ended) = (eventLoop, ended)
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        ClientBootstrap(group: eventLoop)
            .connectTimeout(.seconds(10))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(StreamHandler(bound.value))
                }
            }
            .connect(to: SocketAddress(server)).assumeIsolated().whenComplete { result in
                switch result {
                case .success(let channel): bound.value.opened(channel)
                case .failure(let error): bound.value.end(error)
                }
            }
    }

    /// Returns a random id that no other message on the connection has (RFC 5452 §4.3).
    func freeID() -> UInt16 {
        var id = UInt16.random(in: .min ... .max)
        while waiters[id] != nil { id = .random(in: .min ... .max) }
        return id
    }

    /// Sends a message, as soon as the connection is made.
    /// - Parameters:
    ///   - message: the message on the wire.
    ///   - id: the message's id.
    ///   - waiter: receives the answer.
    func send(_ message: [UInt8], id: UInt16, _ waiter: Waiter) {
        idle?.cancel()
        waiters[id] = waiter
        var buffer = ByteBufferAllocator().buffer(capacity: message.count + 2)
        buffer.writeInteger(UInt16(truncatingIfNeeded: message.count))
        buffer.writeBytes(message)
        switch state {
        case .connecting(let waiting): state = .connecting(waiting + [buffer])
        case .open(let channel): channel.writeAndFlush(buffer, promise: nil)
        case .closed(let error): if waiters.removeValue(forKey: id) != nil { waiter.lost(error) }
        }
    }

    /// Drops the waiter for an answer.
    /// - Parameters:
    ///   - id: the message's id.
    ///   - isSilent: whether the server did not answer in time; the connection may be dead, and is closed.
    func forget(_ id: UInt16, isSilent: Bool) {
        waiters[id] = nil
        if isSilent { end(Ended()) } else { watchIdleness() }
    }

    /// Closes the connection; every waiter loses its answer.
    func close() { end(Ended()) }

    private func opened(_ channel: any Channel) {
        guard case .connecting(let waiting) = state else { return channel.close(promise: nil) }
        state = .open(channel)
        for buffer in waiting { channel.write(buffer, promise: nil) }
        channel.flush()
    }

    fileprivate func received(_ message: [UInt8]) {
        guard message.count >= 2 else { return }
        let id = UInt16(message[0]) << 8 | UInt16(message[1])
        guard let waiter = waiters[id] else { return }
        hasAnswered = true
        guard waiter.receive(message) else { return }
        waiters[id] = nil
        watchIdleness()
    }

    fileprivate func end(_ error: any Error) {
        if isClosed { return }
        let (last, left) = (state, waiters)
        (state, waiters) = (.closed(error), [:])
        idle?.cancel()
        ended()
        if case .open(let channel) = last { channel.close(promise: nil) }
        for waiter in left.values { waiter.lost(error) }
    }

    private func watchIdleness() {
        guard waiters.isEmpty else { return }
        idle?.cancel()
        idle = eventLoop.assumeIsolated().scheduleTask(in: Self.idleLimit) { [weak self] in
            guard let self, waiters.isEmpty else { return }
            close()
        }
    }
}

/// Splits the stream into messages, each after its length in two bytes (RFC 1035 §4.2.2), which also bounds the buffer.
private final class StreamHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let stream: DNSStream
    private var rest = ByteBuffer()

    init(_ stream: DNSStream) { self.stream = stream }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var read = unwrapInboundIn(data)
        rest.writeBuffer(&read)
        while let length = rest.getInteger(at: rest.readerIndex, as: UInt16.self),
            let message = rest.getBytes(at: rest.readerIndex + 2, length: Int(length))
        {
            rest.moveReaderIndex(forwardBy: 2 + Int(length))
            stream.received(message)
        }
        rest.discardReadBytes()
    }

    func channelInactive(context: ChannelHandlerContext) { stream.end(DNSStream.Ended()) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        stream.end(error)
        context.close(promise: nil)
    }
}
