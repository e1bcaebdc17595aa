public import DNSSD
public import Discovery
public import NIOCore
import NIOPosix

/// Connects datagram sockets with SwiftNIO. Nothing is sent: an endpoint fails only if the kernel has no route to it. The channel has no
/// handlers yet and does not read.
public struct DatagramDialer: Dialer {
    private let group: any EventLoopGroup

    /// Dials on event loops of `group`.
    public init(group: any EventLoopGroup) { self.group = group }

    /// Connects a socket to an endpoint (connect(2)).
    /// - Throws: `DialFailure` without a route.
    public func dial(_ endpoint: Endpoint) async throws -> any Channel {
        do {
            // The scope of a link-local address is the number of its interface; a name would have to be looked up.
            let address = try NIOCore.SocketAddress(
                ipAddress: endpoint.address.text(scopedTo: nil), port: Int(endpoint.port.rawValue))
            return try await DatagramBootstrap(group: group)
                .channelOption(.autoRead, value: false)
                .channelOption(.recvAllocator, value: Datagram.allocator)
                .connect(to: address).get()
        } catch {
            throw DialFailure(.refused, String(describing: error).escapedForTerminal)
        }
    }

    /// Closes a socket that is not wanted.
    public func close(_ connection: any Channel) async { try? await connection.close() }
}

enum Datagram {
    /// Room for the largest (RFC 768: 16 bits of length): what is larger than a buffer is cut without a word.
    static var allocator: FixedSizeRecvByteBufferAllocator { FixedSizeRecvByteBufferAllocator(capacity: 65_535) }
}

/// Lets a pipeline of a connected datagram socket have buffers, one for each datagram, in both directions.
final class ConnectedDatagrams: ChannelDuplexHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private let remote: NIOCore.SocketAddress

    init(_ remote: NIOCore.SocketAddress) { self.remote = remote }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(wrapInboundOut(unwrapInboundIn(data).data))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let envelope = AddressedEnvelope(remoteAddress: remote, data: unwrapOutboundIn(data))
        context.write(wrapOutboundOut(envelope), promise: promise)
    }

    /// ICMP's answer to something that was sent, above all that no one listens there: the end, as of a connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }
}
