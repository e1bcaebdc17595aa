public import DNSSD
public import Discovery
import DiscoverySystem
public import NIOCore
import NIOPosix

/// Connects with SwiftNIO. A dialled channel has no handlers and does not read, so a losing one sends nothing and no one sees it;
/// `activate` turns the winner into an ordinary channel.
public struct NIODialer: Dialer {
    private let group: any EventLoopGroup

    /// Dials on event loops of `group`.
    public init(group: any EventLoopGroup) { self.group = group }

    /// Connects. The channel has no handlers yet and does not read.
    public func dial(_ endpoint: Endpoint) async throws -> any Channel {
        let socketAddress: NIOCore.SocketAddress
        do {
            socketAddress = try NIOCore.SocketAddress(endpoint)
        } catch {
            throw DialFailure(.refused, "not an address for a socket")
        }
        let attempt = DialledChannel()
        let bootstrap = KeepAlive.options.reduce(ClientBootstrap(group: group)) {
            $0.channelOption($1.option, value: $1.value)
        }
        let connecting =
            bootstrap
            .channelOption(.autoRead, value: false)
            // Otherwise the end of the other side's output would close the channel before it is used.
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connectTimeout(.hours(1))  // the race limits the time
            .channelInitializer { channel in
                attempt.opened(channel)
                KeepAlive.watch(channel)
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(EarlyInput())
                }
            }
            .connect(to: socketAddress)
        return try await withTaskCancellationHandler {
            let channel: any Channel
            do {
                channel = try await connecting.get()
            } catch {
                if Task.isCancelled { throw CancellationError() }
                throw Self.failure(error)
            }
            return channel
        } onCancel: {
            attempt.cancel()
        }
    }

    /// Closes a channel that lost the race.
    public func close(_ connection: any Channel) async { try? await connection.close() }

    /// Lets the caller's initializer build the pipeline of a channel that has not read yet, then activates the pipeline.
    static func activate<Output: Sendable>(
        _ channel: any Channel,
        _ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
    ) async throws -> Output {
        do {
            // In a single turn of the loop if the initializer takes no longer, so that nothing comes in between.
            let output = try await channel.eventLoop.flatSubmit {
                // A datagram socket has neither, and SwiftNIO ends the process where it is asked for such an option.
                let isStream = (try? channel.pipeline.syncOperations.handler(type: EarlyInput.self)) != nil
                if isStream { try? channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: false) }
                return initializer(channel).map { output in
                    // Nothing may fail from here on: an unused NIOAsyncChannel traps.
                    if channel.isActive {
                        channel.pipeline.fireChannelActive()
                        (try? channel.pipeline.syncOperations.handler(type: EarlyInput.self))?.release(into: channel)
                    }
                    return output
                }
            }.get()
            // If it is closed already, the pipeline knows, and its user will notice.
            try? await channel.setOption(.autoRead, value: true).get()
            return output
        } catch {
            try? await channel.close()
            throw error
        }
    }

    private static func failure(_ error: any Error) -> DialFailure {
        switch error {
        case let error as IOError where error.errnoCode == 111: DialFailure(.refused, "connection refused")
        case let error as IOError where error.errnoCode == 110: DialFailure(.timeout, "no answer")
        case let error as IOError: DialFailure(.refused, error.description.escapedForTerminal)
        default: DialFailure(.refused, String(describing: error).escapedForTerminal)
        }
    }
}

extension NIOCore.SocketAddress {
    /// The scope of a link-local address is the number of its interface; a name would have to be looked up.
    init(_ endpoint: Endpoint) throws {
        try self.init(ipAddress: endpoint.address.text(scopedTo: nil), port: Int(endpoint.port.rawValue))
    }
}

/// A channel that may be cancelled before it exists.
private final class DialledChannel: Sendable {
    private struct State {
        var channel: (any Channel)?
        var isCancelled = false
    }
    private let state = Locked(State())

    func opened(_ channel: any Channel) {
        let isCancelled = state.withLock { state in
            state.channel = channel
            return state.isCancelled
        }
        if isCancelled { channel.close(promise: nil) }
    }

    func cancel() {
        let channel = state.withLock { state in
            state.isCancelled = true
            return state.channel
        }
        channel?.close(promise: nil)
    }
}

/// Detects a silently vanished host after 25 s, whether or not something is being sent (tcp(7)), and later only where it took nothing before; the
/// system's defaults take two hours.
enum KeepAlive {
    /// For when nothing is being sent.
    static let options: [(option: ChannelOptions.Types.SocketOption, value: Int)] = [
        (ChannelOptions.Types.SocketOption(level: .socket, name: .so_keepalive), 1),
        (tcp(4), 10),  // TCP_KEEPIDLE, s
        (tcp(5), 5),  // TCP_KEEPINTVL, s
        (tcp(6), 3),  // TCP_KEEPCNT
    ]

    /// For when something is. Call it on the channel's event loop.
    static func watch(_ channel: any Channel) {
        let period = TimeAmount(Sockets.windowPeriod)
        let watch = channel.eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in
            _ = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
                Sockets.followWindow(of: $0)
            }
        }
        channel.closeFuture.whenComplete { _ in watch.cancel() }
    }

    // Their numbers in <linux/tcp.h>; SwiftNIO has no names for them.
    private static func tcp(_ name: CInt) -> ChannelOptions.Types.SocketOption {
        ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: name))
    }
}

/// Keeps what the other side sends before the connection has handlers: a server may speak first, and close immediately.
///
/// When the other side closes, SwiftNIO reads to the end even if no one asked for it. The socket's receive buffer bounds how much that can
/// be. Used on its channel's event loop.
final class EarlyInput: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var isHolding = true
    private var buffers: [ByteBuffer] = []
    private var isInputClosed = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isHolding else { return context.fireChannelRead(data) }
        buffers.append(unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !isHolding { context.fireChannelReadComplete() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard isHolding, case .some(.inputClosed) = event as? ChannelEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        isInputClosed = true
    }

    /// Passes everything to the pipeline, which now has its handlers, and holds nothing back from then on.
    func release(into channel: any Channel) {
        isHolding = false
        for buffer in buffers { channel.pipeline.fireChannelRead(buffer) }
        if !buffers.isEmpty { channel.pipeline.fireChannelReadComplete() }
        buffers = []
        guard isInputClosed else { return }
        // At the end of input do as SwiftNIO does: notify, or close the connection, depending on the channel's options.
        if (try? channel.syncOptions?.getOption(.allowRemoteHalfClosure)) == true {
            channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        } else {
            channel.close(promise: nil)
        }
    }
}
