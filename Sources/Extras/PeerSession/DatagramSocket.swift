internal import NIOCore
internal import NIOPosix

/// The UDP socket beside one connection. It uses the connection's two addresses, so that the kernel drops everyone else's datagrams, and
/// ours come from where the other side expects them.
struct DatagramSocket: Sendable {
    let offer: DatagramOffer
    /// Received datagrams; when full, a new one replaces the oldest.
    let arrivals: AsyncStream<SessionDatagram>
    private let channel: any Channel
    private let connection: any Channel

    /// Nil if no socket is available; then everything uses the connection.
    /// - Parameter isSealed: whether the datagrams are to be sealed, as the connection is.
    static func open(beside connection: any Channel, isSealed: Bool) async -> DatagramSocket? {
        guard var address = connection.localAddress, connection.remoteAddress?.protocol == address.protocol else {
            return nil
        }
        address.port = 0
        let token = UInt64.random(in: .min ... .max)
        let key = isSealed ? DatagramKey.random() : nil
        // No datagrams rather than plain ones.
        if isSealed, key == nil { return nil }
        let opener = DatagramOpener(key, token: token)
        let (arrivals, arrived) = AsyncStream<SessionDatagram>.makeStream(bufferingPolicy: .bufferingNewest(64))
        var bootstrap = DatagramBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        DatagramHandler(opener, connection.remoteAddress, arrived))
                }
            }
        if address.protocol == .inet6 {
            // An IPv4 connection of the listener has IPv4-mapped IPv6 addresses.
            let v6only = ChannelOptions.Types.SocketOption(level: .ipv6, name: .ipv6_v6only)
            bootstrap = bootstrap.channelOption(v6only, value: 0)
        }
        guard let channel = try? await bootstrap.bind(to: address).get() else { return nil }
        guard let port = channel.localAddress?.port.flatMap({ UInt16(exactly: $0) }) else {
            channel.close(promise: nil)
            return nil
        }
        let offer = DatagramOffer(port: port, token: token, key: key)
        return DatagramSocket(offer: offer, arrivals: arrivals, channel: channel, connection: connection)
    }

    /// Connects to the port that the other side offered, at the connection's address.
    func connect(to remote: DatagramOffer) async throws {
        guard var address = connection.remoteAddress else { throw ChannelError.ioOnClosedChannel }
        address.port = Int(remote.port)
        try await channel.connect(to: address).get()
    }

    /// Sends a datagram, or drops it if the system takes no more.
    func send(_ bytes: [UInt8]) {
        guard channel.isWritable else { return }
        channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    }

    func close() { channel.close(promise: nil) }
}

/// Passes on datagrams for this side from the connection's host. Used on its channel's event loop.
private final class DatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private var opener: DatagramOpener
    private let host: SocketAddress?
    private let arrived: AsyncStream<SessionDatagram>.Continuation

    init(_ opener: DatagramOpener, _ host: SocketAddress?, _ arrived: AsyncStream<SessionDatagram>.Continuation) {
        (self.opener, self.host, self.arrived) = (opener, host, arrived)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var envelope = unwrapInboundIn(data)
        // Before the socket is connected, the kernel lets others' datagrams through.
        envelope.remoteAddress.port = host?.port
        guard envelope.remoteAddress == host, let datagram = opener.open(envelope.data.readableBytesView) else {
            return
        }
        arrived.yield(datagram)
    }

    /// Ignores errors such as a firewall's answer: the other side notices that nothing arrives.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}

    func channelInactive(context: ChannelHandlerContext) { arrived.finish() }
}

/// Tracks whether a connection's datagrams arrive, in both directions. A value. What this side sent counts as arrived once the other side
/// confirms it.
package struct DatagramPath: Hashable, Sendable {
    /// After this many pings without a new confirmation, datagrams count as lost. At least one is sent between two pings.
    private static let patience = 3

    /// The newest number that arrived here, to be confirmed to the other side; 0 before the first.
    package private(set) var heard: UInt64 = 0
    /// Whether a datagram sent now will probably arrive.
    package private(set) var works = false
    private var sent: UInt64 = 0
    private var confirmed: UInt64 = 0
    private var silentPings = 0

    package init() {}

    /// - Returns: the number for the next datagram.
    package mutating func next() -> UInt64 {
        sent &+= 1
        return sent
    }

    /// Call when a datagram arrives.
    /// - Returns: whether it is newer than all before; if not, drop it.
    package mutating func arrived(_ number: UInt64) -> Bool {
        guard number > heard else { return false }
        heard = number
        return true
    }

    /// Call when the other side confirms, over the connection, the newest number that arrived there.
    package mutating func told(_ number: UInt64) {
        if number > confirmed, number <= sent {
            confirmed = number
            silentPings = 0
            works = true
        } else {
            silentPings = min(silentPings + 1, Self.patience)
            if silentPings == Self.patience { works = false }
        }
    }
}
