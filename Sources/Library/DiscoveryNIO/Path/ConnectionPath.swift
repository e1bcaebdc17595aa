public import DNSSD
public import Discovery
import DiscoveryPOSIX
import DiscoverySystem
internal import Libc
public import NIOCore
internal import NIOPosix

/// How a connection's packets leave this machine, as far as the system tells. Whether the other side still answers is not part of it.
public struct ConnectionPath: Hashable, Sendable {
    /// The interface that has the connection's local address; nil if none has it.
    public let interface: NetworkInterface?
    /// The address is there, and its interface is up and has a carrier.
    public let isViable: Bool
    /// A new connection to the same address would leave by another interface, which has a carrier: that of the kernel's route.
    public let isBetterThere: Bool

    /// Judges a path.
    /// - Parameters:
    ///   - local: the connection's own address.
    ///   - remote: the other side's; nil if it is not known.
    ///   - addresses: this machine's.
    ///   - routes: the kernel's.
    ///   - isReceiving: whether an interface is up and has a carrier, for a family.
    public init(
        from local: IPAddress, to remote: IPAddress?, _ addresses: LocalAddresses, _ routes: any RouteLookup,
        isReceiving: (NetworkInterface, IPAddress.Family) -> Bool
    ) {
        let entry = addresses.entries.first { entry in
            guard entry.address.masked(to: 128) == local.masked(to: 128) else { return false }
            return !local.isLinkLocal || local.family == .ipv4 || local.scope == 0
                || local.scope == entry.interface.index
        }
        interface = entry?.interface
        isViable = entry.map { isReceiving($0.interface, local.family) } ?? false
        // A link-local address is reached by its interface alone; one's own has none to speak of.
        guard let remote, !remote.isLinkLocal, !addresses.isOwn(remote),
            case .leaves(let index, _)? = routes.route(to: remote), index != entry?.interface.index,
            let other = addresses.entries.first(where: { $0.interface.index == index })?.interface
        else {
            isBetterThere = false
            return
        }
        isBetterThere = isReceiving(other, remote.family)
    }
}

extension IPAddress {
    /// The number of the interface that a link-local IPv6 address belongs to; else 0.
    fileprivate var scope: UInt32 { if case .v6(_, let scope) = self { scope } else { 0 } }
}

extension ConnectionPath {
    /// The path of a connection, TCP or UDP: now, and whenever the judgement changes; only the newest is kept. Ends with the channel, and at
    /// once if the system does not tell of changes. Interfaces that are slow to get an address are better only once they have one.
    ///
    /// May be called from any thread; several users each have a stream.
    public static func updates(of channel: any Channel) -> AsyncStream<ConnectionPath> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ConnectionPath.self, bufferingPolicy: .bufferingNewest(1))
        let end = channel.eventLoop.makePromise(of: Void.self)
        continuation.onTermination = { _ in end.succeed() }
        channel.closeFuture.whenComplete { _ in continuation.finish() }
        let told = Locked<ConnectionPath?>(nil)
        let judge: @Sendable () -> Void = {
            guard let path = ConnectionPath(of: channel) else { return }
            let isNews = told.withLock { told in
                defer { told = path }
                return told != path
            }
            if isNews { continuation.yield(path) }
        }
        SystemChanges.watch(
            InterfaceLimit.watchAll(), gathering: SystemChanges.moment, on: channel.eventLoop, until: end.futureResult,
            judge
        ).whenComplete { result in
            judge()
            if case .failure = result { continuation.finish() }
        }
        return stream
    }

    /// The path of a connection now; nil if it has no address.
    public init?(of channel: any Channel) {
        guard let local = channel.localAddress.flatMap({ IPAddress($0) }) else { return nil }
        self.init(
            from: local, to: channel.remoteAddress.flatMap { IPAddress($0) }, .system(), SystemRoutes(),
            isReceiving: { SystemInterfaces.isReceiving($0, over: $1) })
    }
}

/// Tells of changes of interfaces, and perhaps addresses. Used on one event loop.
final class SystemChanges: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Changes within this time can be taken together: a link that comes up gets several addresses and routes, and one that flaps must not keep
    /// the loop busy.
    static let moment = TimeAmount.milliseconds(150)

    private let gathering: TimeAmount?
    private let changed: () -> Void
    /// What has changed is told soon.
    private var isDue = false

    init(gathering: TimeAmount?, _ changed: @escaping () -> Void) {
        (self.gathering, self.changed) = (gathering, changed)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func channelReadComplete(context: ChannelHandlerContext) {
        guard let gathering else { return changed() }
        guard !isDue else { return }
        isDue = true
        context.eventLoop.assumeIsolated().scheduleTask(in: gathering) { [self] in
            isDue = false
            changed()
        }
    }

    /// Watches until `end` completes.
    /// - Parameters:
    ///   - descriptor: a netlink socket, which belongs to the watch from then on; negative where there is none.
    ///   - gathering: for how long changes are taken together; nil tells each at once.
    ///   - changed: called on `loop`.
    static func watch(
        _ descriptor: Int32, gathering: TimeAmount?, on loop: any NIOCore.EventLoop, until end: EventLoopFuture<Void>,
        _ changed: @escaping @Sendable () -> Void
    ) -> EventLoopFuture<Void> {
        guard descriptor >= 0 else { return loop.makeFailedFuture(IOError(errnoCode: errno, reason: "netlink")) }
        return NIOPipeBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(SystemChanges(gathering: gathering, changed))
                }
            }
            .takingOwnershipOfDescriptor(input: descriptor)
            .flatMapErrorThrowing { error in
                close(descriptor)
                throw error
            }
            .map { watch in end.whenComplete { _ in watch.close(promise: nil) } }
    }
}

extension IPAddress {
    /// The address of a socket, with the scope of a link-local one; an IPv4-mapped IPv6 address becomes IPv4. Nil if there is no IP
    /// address, as for a Unix socket.
    public init?(_ socket: NIOCore.SocketAddress) {
        let address = socket.withSockAddr { pointer, _ in DiscoveryPOSIX.SocketAddress(copying: pointer)?.address }
        switch address?.unmapped {
        case .v6(let address, _)? where !address.isLinkLocal: self = .v6(address, scope: 0)
        case let address?: self = address
        case nil: return nil
        }
    }
}
