import CommandFrame
import DiscoveryNIO
public import NIOCore
import NIOPosix

/// A connection as two byte streams. Either side may end its direction and still receive, as in `nc -N`.
public typealias ByteStream = NIOAsyncChannel<ByteBuffer, ByteBuffer>

extension NIOAsyncChannel where Inbound == ByteBuffer, Outbound == ByteBuffer {
    /// The initializer for `LocalNetwork.connect`, `LocalNetwork.withListener` and `ServerSocket.listen`.
    public static func wrap(_ channel: any Channel) -> EventLoopFuture<ByteStream> {
        channel.eventLoop.makeCompletedFuture {
            try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
            try channel.noticeVanishedPeers()
            return try ByteStream(
                wrappingChannelSynchronously: channel,
                // Buffers of at most 64 KiB: 4 to 16 of them wait for a slow reader.
                configuration: .init(
                    backPressureStrategy: .init(lowWatermark: 4, highWatermark: 16),
                    isOutboundHalfClosureEnabled: true))
        }
    }

    /// Closes an unwanted connection. Dropping it without closing would trap.
    public func refuse() async { try? await executeThenClose { _, _ in } }

    /// Connects to a host by name or address; tries every address of a name.
    /// - Throws: `CommandError` with `.notFound` if the name has no address, `.unreachable` if none answers.
    public static func connect(
        host: String, port: Int, within limit: TimeAmount = .seconds(10)
    ) async throws -> ByteStream {
        try await connect(host: host, port: port, within: limit) { wrap($0) }
    }

    /// The same, with what `initializer` makes of the connection.
    public static func connect<Output: Sendable>(
        host: String, port: Int, within limit: TimeAmount = .seconds(10),
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
    ) async throws -> Output {
        do {
            return try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connectTimeout(limit)
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelOption(.socketOption(.so_keepalive), value: 1)
                .connect(host: host, port: port, channelInitializer: initializer)
        } catch is CancellationError {
            throw CancellationError()
        } catch let error as NIOConnectionError where error.connectionErrors.isEmpty {
            throw CommandError(.notFound, "there is no host \(host)")
        } catch {
            let last = (error as? NIOConnectionError)?.connectionErrors.last?.error ?? error
            throw CommandError(.unreachable, "cannot connect to \(host) port \(port): \(failureText(last))")
        }
    }
}

extension Channel {
    /// Makes the kernel end the connection when the other side has vanished: within a minute on an idle connection, within 30 s of sending,
    /// and later where it took nothing before. Call it on the channel's event loop.
    public func noticeVanishedPeers() throws {
        // TCP_KEEPIDLE, TCP_KEEPINTVL and TCP_KEEPCNT of <linux/tcp.h>.
        for (name, value) in [(4, 30), (5, 10), (6, 3)] { try setOption(ofTCP: CInt(name), to: value) }
        guard let socket = self as? any SocketOptionProvider else { return }
        let watch = eventLoop.scheduleRepeatedTask(initialDelay: .seconds(5), delay: .seconds(5)) { _ in
            // TCP_USER_TIMEOUT also counts while a slow reader has no room; then all that was sent is acknowledged.
            socket.getTCPInfo().whenSuccess { info in
                try? self.setOption(ofTCP: 18, to: info.tcpi_unacked > 0 || info.tcpi_probes >= 3 ? 30_000 : 0)
            }
        }
        closeFuture.whenComplete { _ in watch.cancel() }
    }

    private func setOption(ofTCP name: CInt, to value: Int) throws {
        let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: name))
        try syncOptions?.setOption(option, value: value)
    }
}

/// Describes an error of a socket.
public func failureText(_ error: any Error) -> String {
    switch error {
    case let error as ServerSocket.Failure: systemMessage(error.errnoCode)
    case let error as IOError: systemMessage(error.errnoCode)
    case ChannelError.connectTimeout, is Deadline.Missed: "no answer in time"
    case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed: "the connection is closed"
    // NIOSSL's: TCP has ended, and TLS has not.
    case let error where "\(error)" == "uncleanShutdown": "it ended without a word"
    default: String(describing: error)
    }
}
