import NIOCore
import NIOPosix

/// Sends one datagram to a server, and receives the answers. Its socket has a random port (RFC 5452 §4.5) and is
/// connected, so that the kernel drops other hosts' packets. Used on its event loop.
final class DatagramExchange {
    /// The longest datagram that is received, in bytes; EDNS asks for less.
    private static let maximumLength = 4096

    private enum State {
        case opening
        case open(any Channel)
        case over
    }

    private let eventLoop: any EventLoop
    private var state = State.opening
    fileprivate let receive: ([UInt8]) -> Void
    fileprivate let lost: (any Error) -> Void

    /// Sends a message.
    /// - Parameters:
    ///   - message: the message on the wire.
    ///   - server: the server.
    ///   - eventLoop: the loop that carries the socket.
    ///   - receive: called with each datagram from the server, until `close`.
    ///   - lost: called if there is no socket, or the server's host says that no program listens.
    init(
        _ message: [UInt8], to server: ServerAddress, on eventLoop: any EventLoop,
        receive: @escaping ([UInt8]) -> Void, lost: @escaping (any Error) -> Void
    ) {
        (self.eventLoop, self.receive, self.lost) = (eventLoop, receive, lost)
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        DatagramBootstrap(group: eventLoop)
            .channelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.maximumLength)
            )
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DatagramHandler(bound.value))
                }
            }
            .connect(to: SocketAddress(server)).assumeIsolated().whenComplete { result in
                bound.value.opened(result, message)
            }
    }

    /// Closes the socket; `receive` and `lost` are not called again.
    func close() {
        if case .open(let channel) = state { channel.close(promise: nil) }
        state = .over
    }

    private var isOver: Bool { if case .over = state { true } else { false } }

    private func opened(_ result: Result<any Channel, any Error>, _ message: [UInt8]) {
        switch result {
        case .success(let channel) where isOver: channel.close(promise: nil)
        case .success(let channel):
            state = .open(channel)
            channel.writeAndFlush(ByteBuffer(bytes: message)).assumeIsolated().whenFailure { self.failed($0) }
        case .failure(let error): failed(error)
        }
    }

    fileprivate func received(_ bytes: [UInt8]) { if !isOver { receive(bytes) } }

    fileprivate func failed(_ error: any Error) {
        guard !isOver else { return }
        close()
        lost(error)
    }
}

private final class DatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let exchange: DatagramExchange

    init(_ exchange: DatagramExchange) { self.exchange = exchange }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        exchange.received(Array(unwrapInboundIn(data).data.readableBytesView))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { exchange.failed(error) }
}
