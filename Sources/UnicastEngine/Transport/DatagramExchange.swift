import NIOCore
import NIOPosix

/// One datagram to a server from a socket of its own, whose port the system chooses at random (RFC 5452 §4.5), and what comes back. The
/// socket is connected: the kernel drops what others send. Used on its event loop.
final class DatagramExchange {
    /// More than is asked for with EDNS.
    private static let maximumLength = 4096

    private let eventLoop: any EventLoop
    private var channel: (any Channel)?
    private var isOver = false
    fileprivate let receive: ([UInt8]) -> Void
    fileprivate let lost: (any Error) -> Void

    /// - Parameters:
    ///   - receive: takes whatever the server sends until it is closed.
    ///   - lost: the socket could not be made, or the server's host says that nobody listens.
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

    /// Ends it; nothing is told any more.
    func close() {
        isOver = true
        channel?.close(promise: nil)
        channel = nil
    }

    private func opened(_ result: Result<any Channel, any Error>, _ message: [UInt8]) {
        switch result {
        case .success(let channel) where isOver: channel.close(promise: nil)
        case .success(let channel):
            self.channel = channel
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
