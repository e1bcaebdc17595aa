public import DNSSD
public import Discovery
public import NIOCore
public import NIOPosix

extension LocalNetwork {
    /// Connects a datagram socket to a service, usually of a type `_udp`: resolves it and takes the first of its addresses, in the order of
    /// RFC 6724, that `policy` allows and the kernel has a route to. Nothing is sent yet, so nobody knows whether someone is there.
    ///
    /// The pipeline has a `ByteBuffer` for each datagram in both directions; other senders than the service are not heard. When the other
    /// side's host says that nobody listens there, the channel gets the error and closes.
    /// - Parameters:
    ///   - target: the service.
    ///   - interfaces: where to look for it.
    ///   - family: nil for IPv4 and IPv6.
    ///   - policy: which addresses may be used.
    ///   - limits: the time until the service is found, and how many addresses are tried.
    ///   - group: the event loops.
    ///   - initializer: builds the pipeline; return what you need from it: the channel, or a `NIOAsyncChannel` around it.
    /// - Throws: `DiscoveryError` as in `Establishment.result`; the errors of `initializer`.
    public func connectDatagrams<Output: Sendable>(
        to target: ConnectTarget,
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        policy: AddressPolicy = AddressPolicy(),
        limits: RaceLimits = RaceLimits(),
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
    ) async throws -> (output: Output, report: EstablishmentReport) {
        let connector = Connector(network: self, dialer: DatagramDialer(group: group), policy: policy, limits: limits)
        let establishment = await connector.establish(target, on: interfaces, over: family)
        let output = try await NIODialer.activate(try establishment.result.get()) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(ConnectedDatagrams())
            }.flatMap { initializer(channel) }
        }
        return (output, establishment.report)
    }

    /// Receives datagrams at every address of this machine, and publishes the port. What is sent in answer comes from the address that was
    /// asked.
    ///
    /// There is a socket, and so a pipeline, for each address, as addresses come and go; `AddressedEnvelope<ByteBuffer>` goes in both
    /// directions. The sender's address proves nothing: do not answer with more than was asked (RFC 8085 §6).
    /// - Parameters:
    ///   - name: the service's name.
    ///   - type: its type, usually `_udp`.
    ///   - domain: where it is published.
    ///   - port: nil takes a free one.
    ///   - txt: its TXT record.
    ///   - interfaces: where to announce the service, and whose addresses have a socket.
    ///   - family: nil for IPv4 and IPv6.
    ///   - policy: what happens when the name is taken.
    ///   - group: the event loops; one of them has all sockets.
    ///   - initializer: builds the pipeline of each socket.
    /// - Throws: `ServerSocket.Failure` if no address can be bound; the publication reports collisions.
    public func listenForDatagrams(
        _ name: ServiceName,
        type: ServiceType,
        in domain: Domain = .local,
        port: Port? = nil,
        txt: TXTRecord = TXTRecord(),
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        onConflict policy: ConflictPolicy = .rename,
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) async throws -> DatagramListener {
        let sockets = DatagramSockets(group.next(), interfaces, family, initializer)
        let port = try await sockets.open(at: port)
        let service = OfferedService(
            name: name, type: type, domain: domain, port: port, txt: txt, interfaces: interfaces, family: family)
        return DatagramListener(sockets, port, publish(service, onConflict: policy))
    }
}

/// Sockets that receive datagrams, and their service, which is withdrawn when they close.
public final class DatagramListener: Sendable {
    private let sockets: DatagramSockets
    /// The port at every address.
    public let port: Port
    /// The service: its state, and its name after a collision.
    public let publication: Publication

    init(_ sockets: DatagramSockets, _ port: Port, _ publication: Publication) {
        (self.sockets, self.port, self.publication) = (sockets, port, publication)
    }

    deinit {
        sockets.close()
        // Unstructured, because no one is left to wait for it.
        Task { [publication] in await publication.withdraw() }
    }

    /// The addresses that have a socket now.
    public var addresses: Set<IPAddress> { sockets.addresses }

    /// Waits until the service is announced.
    /// - Returns: the published name, which a collision may have changed.
    /// - Throws: as `Publication.established()`.
    public func established() async throws(DiscoveryError) -> ServiceName { try await publication.established() }

    /// Says goodbye and closes all sockets; returns when the service is withdrawn and they are closed: who sends then is told that nobody listens.
    public func close() async {
        // Withdraw first, so that no one finds a closed port.
        await publication.withdraw()
        for channel in sockets.close() { try? await channel.closeFuture.get() }
    }
}

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
            return try await DatagramBootstrap(group: group)
                .channelOption(.autoRead, value: false)
                .channelOption(.recvAllocator, value: Datagram.allocator)
                .connect(to: NIOCore.SocketAddress(endpoint)).get()
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

/// Lets a pipeline of a connected datagram socket have buffers, one for each datagram. The channel itself takes them so.
final class ConnectedDatagrams: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias InboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(wrapInboundOut(unwrapInboundIn(data).data))
    }

    /// An ICMP answer to a datagram, usually that no one listens there, ends the channel like a connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }
}
